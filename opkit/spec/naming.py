"""The one rule that makes a file stem of an op type, so that header, kernel, library and CMake names can't disagree."""

from __future__ import annotations

import re

# A word starts at a capital after a small letter or digit, and at the last capital of a run of capitals that a small letter follows.
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def stem_of(op_type: str) -> str:
    """The snake-case stem of an op type, as msopgen writes it: digits belong to the word before them.

    | op type | stem |
    | --- | --- |
    | AddRefreshOp | add_refresh_op |
    | ADD | add |
    | RMSNorm | rms_norm |
    | Im2col | im2col |
    | LayerNormV3GradV2 | layer_norm_v3_grad_v2 |
    | Conv2D | conv2_d |
    | ABC2dEF | abc2d_ef |
    | Abc2DEf | abc2_d_ef |
    | Abc2DEF | abc2_def |
    | TopKPQDistance | top_kpq_distance |
    | FusedMulAddNL2loss | fused_mul_add_nl2loss |

    The file names of a package come from `Package(header=...)`; a name that this rule doesn't give is written there.
    """
    return _WORD_START.sub("_", op_type).lower()
