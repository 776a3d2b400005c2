// Runtime compilation of Ascend C sources (aclrtc).
//
// Codes, which no header of the toolkit names: 176000 no program, 176001 bad argument, 176002 bad option, 176003 compilation failed,
// 176004 linking failed, 176005 name expression after compilation, 176006 lowered name before compilation, 176007 unknown name expression,
// 276000 program not created, 276001 out of memory, 576000 other failure.
#ifndef OPKIT_SIM_ACL_ACL_RT_COMPILE_H_
#define OPKIT_SIM_ACL_ACL_RT_COMPILE_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int aclError;
typedef void *aclrtcProg;

// `src` is copied. `name` is the file name in messages; empty or null: "default_program". Headers must be 0 and null.
aclError aclrtcCreateProg(aclrtcProg *prog, const char *src, const char *name, int numHeaders, const char **headers,
                          const char **includeNames);
aclError aclrtcCompileProg(aclrtcProg prog, int numOptions, const char **options);
aclError aclrtcDestroyProg(aclrtcProg *prog);

// The device binary; the size first, then that many bytes into the caller's buffer.
aclError aclrtcGetBinDataSize(aclrtcProg prog, size_t *binDataSizeRet);
aclError aclrtcGetBinData(aclrtcProg prog, char *binData);

// Instantiates what a C++ name expression ("ns::add<float>") denotes; before compilation only. The returned name belongs to the program.
aclError aclrtcAddNameExpr(aclrtcProg prog, const char *nameExpr);
aclError aclrtcGetLoweredName(aclrtcProg prog, const char *nameExpr, const char **loweredName);

// The compiler's messages; the size counts the closing zero.
aclError aclrtcGetCompileLogSize(aclrtcProg prog, size_t *logSizeRet);
aclError aclrtcGetCompileLog(aclrtcProg prog, char *log);

#ifdef __cplusplus
}
#endif

#endif  // OPKIT_SIM_ACL_ACL_RT_COMPILE_H_
