"""Words that a name in a spec can't be, because the name becomes C++, Python and CMake text that someone else's rules read."""

from __future__ import annotations

import keyword
import sys

from opkit.spec.built_in_ops import BUILT_IN_OPS


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CPP_KEYWORDS = _words(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await co_return
    co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do double dynamic_cast else
    enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator
    or or_eq private protected public register reinterpret_cast requires return short signed sizeof static static_assert static_cast
    struct switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
    while xor xor_eq
    """
)

# Macros without a leading underscore that the C library's, GE's and ACL's headers define: they would replace the name in REG_OP.
_MACROS = _words(
    """
    assert errno stdin stdout stderr unix linux i386 major minor makedev offsetof setjmp signbit isnan isinf isfinite isnormal fpclassify
    va_arg va_copy va_end va_start NULL EOF BUFSIZ NAN INFINITY CHAR_BIT RAND_MAX INT8_MAX INT16_MAX INT32_MAX INT64_MAX UINT8_MAX
    UINT16_MAX UINT32_MAX UINT64_MAX SIZE_MAX INT8_MIN INT16_MIN INT32_MIN INT64_MIN GM_ADDR REG_OP INPUT OUTPUT ATTR REQUIRED_ATTR
    OPTIONAL_INPUT DYNAMIC_INPUT DYNAMIC_OUTPUT DATATYPE GRAPH OP_END_FACTORY_REG REG_AUTO_MAPPING_OP
    """
)

# GE's own classes, whose headers a prototype includes: a second class of one of these names doesn't compile.
_GE_TYPES = _words("Operator Graph Session Tensor TensorDesc Shape Format DataType OpReg")
# What GE itself puts into every graph.
_GRAPH_OPS = _words("Data Const Constant Identity NetOutput")
_BUILT_IN_OPS = _words(BUILT_IN_OPS)

# Class templates that the classes of the ops derive from.
_GENERATED_TYPES = _words("CustomOp ShapeInference Execution AddressRefresh AnnotatedLaunch GraphCompilation GraphTarget Portability")

_CMAKE_TARGETS = _words("all clean edit_cache help install list_install_components package package_source rebuild_cache test")


def why_no_cpp_word(name: str) -> str | None:
    """Why generated C++ can't have this name, beyond its spelling, or None."""
    if name in _CPP_KEYWORDS:
        return "it is a C++ keyword"
    if name in _MACROS:
        return "it is a C++ macro"
    return None


def why_no_cpp_name(name: str) -> str | None:
    """Why a port or attr can't have this name, beyond its spelling, or None."""
    because = why_no_cpp_word(name)
    if because is None and keyword.iskeyword(name):
        because = "it is a Python keyword, and a reference gets its attrs by name"
    return because


def why_no_macro(name: str) -> str | None:
    """Why a kernel can't be compiled with a macro of this name, beyond its spelling, or None."""
    if name in _CPP_KEYWORDS:
        return "it is a C++ keyword"
    return "the preprocessor has a word of its own of this name" if name == "defined" else None


def is_built_in(name: str) -> bool:
    """Whether CANN comes with an op of this type, whose place a custom op can take."""
    return name in _BUILT_IN_OPS


def why_no_op_type(name: str) -> str | None:
    if name in _MACROS:
        return "it is a C++ macro"
    if name in _GE_TYPES:
        return "GE has a C++ class of this name"
    if name in _GENERATED_TYPES:
        return "the generated C++ has a class of this name"
    if name in _GRAPH_OPS:
        return "GE makes its graphs with an op of this name"
    return None


def why_no_package_name(name: str) -> str | None:
    if name in _CPP_KEYWORDS:
        return "it is a C++ keyword"
    if keyword.iskeyword(name):
        return "it is a Python keyword"
    if name in _CMAKE_TARGETS:
        return "CMake has a target of this name"
    if name == "opkit" or name in sys.stdlib_module_names:
        return "Python has a module of this name"
    return None
