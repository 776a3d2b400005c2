"""GE's tensor formats, by the names that a spec gives them: those of the enumerators without `FORMAT_`."""

from __future__ import annotations

__all__ = ["FORMATS", "PLAIN_FORMATS", "find_format"]

FORMATS = tuple(
    (  # noqa: SIM905 - a list of 52 lines would be read by nobody
        "NCHW NHWC ND NC1HWC0 FRACTAL_Z NC1C0HWPAD NHWC1C0 FSR_NCHW FRACTAL_DECONV C1HWNC0 FRACTAL_DECONV_TRANSPOSE "
        "FRACTAL_DECONV_SP_STRIDE_TRANS NC1HWC0_C04 FRACTAL_Z_C04 CHWN FRACTAL_DECONV_SP_STRIDE8_TRANS HWCN NC1KHKWHWC0 BN_WEIGHT "
        "FILTER_HWCK HASHTABLE_LOOKUP_LOOKUPS HASHTABLE_LOOKUP_KEYS HASHTABLE_LOOKUP_VALUE HASHTABLE_LOOKUP_OUTPUT HASHTABLE_LOOKUP_HITS "
        "C1HWNCoC0 MD NDHWC FRACTAL_ZZ FRACTAL_NZ NCDHW DHWCN NDC1HWC0 FRACTAL_Z_3D CN NC DHWNC FRACTAL_Z_3D_TRANSPOSE FRACTAL_ZN_LSTM "
        "FRACTAL_Z_G ND_RNN_BIAS FRACTAL_ZN_RNN NYUV NYUV_A NCL FRACTAL_Z_WINO C1HWC0 FRACTAL_NZ_C0_16 FRACTAL_NZ_C0_32 FRACTAL_NZ_C0_2 "
        "FRACTAL_NZ_C0_4 FRACTAL_NZ_C0_8"
    ).split()
)

# Without blocks: the elements lie in the order of the dims, whatever the dims are called. ND stands for all of them.
PLAIN_FORMATS = ("ND", "NCHW", "NHWC", "HWCN", "NCDHW", "NDHWC")


def find_format(word: str) -> str | None:
    """The format that a word means; `FORMAT_` may stand before its name."""
    name = word.removeprefix("FORMAT_")
    return name if name in FORMATS else None
