"""What every picture has in common, however different what they show."""

from typing import Any


def check_style(fig: Any) -> None:
    """Lines are thin, what has curves has a faint grid, what colours mean is said, panels fit a screen."""
    for ax in fig.axes:
        if ax.get_label() == "<colorbar>":
            assert ax.get_ylabel()
            continue
        grid = ax.get_gridspec()
        width, height = fig.get_size_inches() / (grid.ncols, grid.nrows)
        assert 3 <= width <= 26
        assert 1.5 <= height <= 8
        assert all(line.get_linewidth() <= 2 for line in ax.lines), ax.get_title()
        grids = [axis for axis in (ax.xaxis, ax.yaxis) if axis.get_tick_params()["gridOn"]]
        assert bool(grids) or not ax.lines or ax.images, ax.get_title()
        for axis in grids:
            assert all(line.get_alpha() == 0.3 for line in axis.get_gridlines()), ax.get_title()
        assert all(ax.get_aspect() == "auto" for _ in ax.images)
        assert all(image.colorbar is not None for image in ax.images)
