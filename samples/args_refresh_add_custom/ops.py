"""ops.py: the operators of this package."""
from opkit import Attr, Benchmark, Input, Kernel, Op, Output, Package, ceil_div, numel

kernel = Kernel(
    "kernels/add_custom.asc",
    entry="add_custom",
    args=["x", "y", "z", numel("x")],        # launch order: ports, attrs, size expressions; types and offsets come from the kernel's own signature
    blocks=ceil_div(numel("x"), 1024),
    strides=True,                            # the kernel strides over blocks, so the launch may be clamped; without it, too many blocks is an error
)

add_refresh = Op(
    "AddRefreshOp",
    inputs=[Input("x", "T", shape="..."), Input("y", "T", shape="...")],
    outputs=[Output("z", "T", shape="...")],
    dtypes={"T": ["float32"]},
    kernel=kernel,
    refresh="updater",                       # "updater" (ArgsUpdater), "annotated" (AnnotatedArgsOp) or "none"
    reference=lambda x, y: x + y,            # NumPy: the truth for opkit test and opkit bench
)
add_no_refresh = add_refresh.replace(type="AddNoRefreshOp", refresh="none")

package = Package(
    "args_refresh_add_custom",
    ops=[add_refresh, add_no_refresh],
    header="add_custom.h",
    benchmark=Benchmark(add_refresh, baseline=add_no_refresh, shapes={"x": (4096, 4096), "y": (4096, 4096)}, iters=100),
)
