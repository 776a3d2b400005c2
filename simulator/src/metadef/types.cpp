#include "graph/types.h"

#include <array>
#include <limits>

#include "metadef/type_sets.h"

namespace ge {

int64_t GetSizeInBytes(int64_t element_count, DataType data_type) {
  const int64_t size = GetSizeByDataType(data_type);
  if (element_count < 0 || size < 0) {
    return -1;
  }
  int64_t product = 0;
  if (size <= kDataTypeSizeBitOffset) {
    return __builtin_mul_overflow(element_count, size, &product) ? -1 : product;
  }
  constexpr int64_t kByteBits = kBitNumOfOneByte;
  if (__builtin_mul_overflow(element_count, size - kDataTypeSizeBitOffset, &product)) {
    return -1;
  }
  return product / kByteBits + (product % kByteBits == 0 ? 0 : 1);
}

const char_t *GetFormatName(Format format) {
  static constexpr std::array<const char_t *, FORMAT_END> kNames = {"NCHW",
                                                                    "NHWC",
                                                                    "ND",
                                                                    "NC1HWC0",
                                                                    "FRACTAL_Z",
                                                                    "NC1C0HWPAD",
                                                                    "NHWC1C0",
                                                                    "FSR_NCHW",
                                                                    "FRACTAL_DECONV",
                                                                    "C1HWNC0",
                                                                    "FRACTAL_DECONV_TRANSPOSE",
                                                                    "FRACTAL_DECONV_SP_STRIDE_TRANS",
                                                                    "NC1HWC0_C04",
                                                                    "FRACTAL_Z_C04",
                                                                    "CHWN",
                                                                    "DECONV_SP_STRIDE8_TRANS",
                                                                    "HWCN",
                                                                    "NC1KHKWHWC0",
                                                                    "BN_WEIGHT",
                                                                    "FILTER_HWCK",
                                                                    "LOOKUP_LOOKUPS",
                                                                    "LOOKUP_KEYS",
                                                                    "LOOKUP_VALUE",
                                                                    "LOOKUP_OUTPUT",
                                                                    "LOOKUP_HITS",
                                                                    "C1HWNCoC0",
                                                                    "MD",
                                                                    "NDHWC",
                                                                    "FRACTAL_ZZ",
                                                                    "FRACTAL_NZ",
                                                                    "NCDHW",
                                                                    "DHWCN",
                                                                    "NDC1HWC0",
                                                                    "FRACTAL_Z_3D",
                                                                    "CN",
                                                                    "NC",
                                                                    "DHWNC",
                                                                    "FRACTAL_Z_3D_TRANSPOSE",
                                                                    "FRACTAL_ZN_LSTM",
                                                                    "FRACTAL_Z_G",
                                                                    "RESERVED",
                                                                    "ALL",
                                                                    "NULL",
                                                                    "ND_RNN_BIAS",
                                                                    "FRACTAL_ZN_RNN",
                                                                    "NYUV",
                                                                    "NYUV_A",
                                                                    "NCL",
                                                                    "FRACTAL_Z_WINO",
                                                                    "C1HWC0",
                                                                    "FRACTAL_NZ_C0_16",
                                                                    "FRACTAL_NZ_C0_32",
                                                                    "FRACTAL_NZ_C0_2",
                                                                    "FRACTAL_NZ_C0_4",
                                                                    "FRACTAL_NZ_C0_8"};
  const int32_t primary = GetPrimaryFormat(static_cast<int32_t>(format));
  return primary < static_cast<int32_t>(FORMAT_END) ? kNames[static_cast<size_t>(primary)] : kNames[FORMAT_RESERVED];
}

TensorType::TensorType(DataType dt) : TensorType({dt}) {}

TensorType::TensorType(const std::initializer_list<DataType> &initial_types)
    : tensor_type_impl_(std::make_shared<TensorTypeImpl>(TensorTypeImpl{initial_types})) {}

Promote::Promote(const std::initializer_list<const char *> &syms) {
  auto names = std::make_shared<std::vector<AscendString>>();
  for (const char *sym : syms) {
    names->emplace_back(sym);
  }
  data_ = names;
}

Promote::Promote(Promote &&other) noexcept = default;
Promote &Promote::operator=(Promote &&other) noexcept = default;

std::vector<const char *> Promote::Syms() const {
  std::vector<const char *> syms;
  if (data_ != nullptr) {
    for (const AscendString &name : *static_cast<const std::vector<AscendString> *>(data_.get())) {
      syms.push_back(name.GetString());
    }
  }
  return syms;
}

}  // namespace ge
