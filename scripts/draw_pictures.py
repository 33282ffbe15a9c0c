"""Draws the pictures of `docs/how-it-works`: `python scripts/draw_pictures.py` writes them to `docs/images/`.

Each picture has a light card as its background, so it reads well on light and dark pages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

FOLDER = Path(__file__).parents[1] / "docs" / "images"

_WIDTH = 680
_INK, _QUIET, _LINE = "#24292f", "#57606a", "#afb8c1"
_BLUE, _PALE_BLUE = "#0969da", "#ddf4ff"
_ORANGE, _PALE_ORANGE = "#bc4c00", "#fff1e5"
_CARD, _BLANK = "#ffffff", "#f6f8fa"


class Drawing:
    """The shapes of one picture, in the order in which they are drawn."""

    def __init__(self, description: str, height: int) -> None:
        self._description = description
        self._height = height
        self._shapes: list[str] = []

    def box(self, x: float, y: float, width: float, height: float, fill: str = _BLANK, line: str = _LINE) -> None:
        """Draw a rectangle."""
        size = f'width="{_number(width)}" height="{_number(height)}"'
        self._shapes.append(f'<rect x="{_number(x)}" y="{_number(y)}" {size} rx="2" fill="{fill}" stroke="{line}"/>')

    def text(
        self,
        x: float,
        y: float,
        words: str,
        anchor: str = "start",
        colour: str = _INK,
        size: int = 15,
        bold: bool = False,
        turned: bool = False,
    ) -> None:
        """Write words, whose baseline is at y."""
        style = f'font-size="{size}" fill="{colour}" text-anchor="{anchor}"' + (' font-weight="600"' if bold else "")
        turn = f' transform="rotate(-55 {_number(x)} {_number(y)})"' if turned else ""
        self._shapes.append(f'<text x="{_number(x)}" y="{_number(y)}" {style}{turn}>{escape(words)}</text>')

    def line(self, x: float, y: float, end_x: float, end_y: float, colour: str = _LINE, dashed: bool = False) -> None:
        """Draw a line."""
        dashes = ' stroke-dasharray="4 4"' if dashed else ""
        self._shapes.append(
            f'<line x1="{_number(x)}" y1="{_number(y)}" x2="{_number(end_x)}" y2="{_number(end_y)}" '
            f'stroke="{colour}"{dashes}/>'
        )

    def arrow(self, x: float, end_x: float, y: float, words: str, colour: str = _BLUE) -> None:
        """Draw a horizontal arrow with words above it."""
        back = 8 if end_x > x else -8
        tip = (
            f"{_number(end_x)},{_number(y)} {_number(end_x - back)},{_number(y - 4)} "
            f"{_number(end_x - back)},{_number(y + 4)}"
        )
        self.line(x, y, end_x - back, y, colour)
        self._shapes.append(f'<polygon points="{tip}" fill="{colour}"/>')
        self.text((x + end_x) / 2, y - 6, words, "middle", size=14)

    def svg(self) -> str:
        """Return the picture as an SVG file."""
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {self._height}" role="img" '
                'font-family="Helvetica, Arial, sans-serif">',
                f"<title>{escape(self._description)}</title>",
                f'<rect width="{_WIDTH}" height="{self._height}" rx="8" fill="{_CARD}"/>',
                *self._shapes,
                "</svg>\n",
            ]
        )


def runs_and_batches() -> Drawing:
    """Draw how a block is cut into batches and runs, and what one run is compared with."""
    drawing = Drawing("A block is cut into batches, a batch into runs; a run shares contexts and negatives", 600)
    levels = [
        ("a block: the kept words of one chunk", 8),
        ("a batch: 1,024 tokens with one learning rate", 16),
        ("a run: 32 consecutive tokens", 32),
    ]
    for level, (name, cells) in enumerate(levels):
        _strip(drawing, 24 + 72 * level, name, cells, has_next=level + 1 < len(levels))
    _scores_of_a_run(drawing, 262)
    return drawing


def _strip(drawing: Drawing, y: int, name: str, cells: int, has_next: bool) -> None:
    """Draw a strip of cells below its name, and lines from one cell to the strip below, which shows its content."""
    left, width, chosen = 20, 640, cells // 2 - 1
    cell = width / cells
    drawing.text(left + width / 2, y + 6, name, "middle", bold=True)
    for number in range(cells):
        is_chosen = has_next and number == chosen
        drawing.box(left + number * cell, y + 14, cell, 18, _PALE_ORANGE if is_chosen else _PALE_BLUE)
    if has_next:
        start = left + chosen * cell
        drawing.line(start, y + 32, left, y + 86, _ORANGE, dashed=True)
        drawing.line(start + cell, y + 32, left + width, y + 86, _ORANGE, dashed=True)


def _scores_of_a_run(drawing: Drawing, top: int) -> None:
    """Draw the weights of a run's products, for a run of six tokens, a window of two and three negatives."""
    words = ["quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "barked", "twice"]
    negatives, window = ["tea", "river", "seven"], 2
    run = range(window, len(words) - window)
    left, cell = 86, 30
    first_row = top + 100
    drawing.text(20, top, "scores of one run of 6 tokens: skip-gram, window 2, 3 negatives", bold=True)
    first_negative = left + len(words) * cell + 16
    for place, word in enumerate(words):
        drawing.text(left + (place + 0.6) * cell, first_row - 6, word, turned=True, size=14)
    for place, word in enumerate(negatives):
        drawing.text(first_negative + (place + 0.6) * cell, first_row - 6, word, colour=_ORANGE, turned=True, size=14)
    for row, place in enumerate(run):
        y = first_row + row * cell
        drawing.text(left - 8, y + 20, words[place], "end", size=14)
        for other in range(len(words)):
            _weight(drawing, left + other * cell, y, cell, abs(place - other), window)
        for other in range(len(negatives)):
            drawing.box(first_negative + other * cell, y, cell, cell, _PALE_ORANGE, _ORANGE)
    bottom = first_row + len(run) * cell
    drawing.text(left, bottom + 20, "widened run: output vectors", colour=_QUIET, size=14)
    drawing.text(first_negative, bottom + 20, "negatives", colour=_ORANGE, size=14)
    drawing.text(
        20, bottom + 42, "Rows are the run's input vectors. Each vector is fetched once.", colour=_QUIET, size=14
    )
    legend = 522
    for line, (fill, words_of_it) in enumerate(
        [
            (_BLUE, "context, weight 1"),
            ("#80ccff", "context, weight ½"),
            (_BLANK, "no context"),
            (_PALE_ORANGE, "negative"),
        ]
    ):
        y = first_row + 8 + line * 30
        drawing.box(legend, y, 16, 16, fill, _ORANGE if fill == _PALE_ORANGE else _LINE)
        drawing.text(legend + 22, y + 13, words_of_it, size=14)


def _weight(drawing: Drawing, x: float, y: float, cell: int, distance: int, window: int) -> None:
    """Draw a cell in the colour of the weight that a pair of words at a distance has."""
    shades = {0: _BLANK, 1: "#80ccff", 2: _BLUE}
    is_context = 0 < distance <= window
    drawing.box(x, y, cell, cell, shades[window + 1 - distance if is_context else 0])


def block_on_a_cluster() -> Drawing:
    """Draw the messages of one block between the coordinator, a worker and the servers."""
    drawing = Drawing("A worker pulls the rows of a block, trains on copies and pushes the changes", 560)
    coordinator, worker, servers = 90, 335, 585
    for x, name, holds in [
        (coordinator, "coordinator", "corpus, vocabulary"),
        (worker, "worker", "copies of some rows"),
        (servers, "servers (ps)", "all rows"),
    ]:
        drawing.line(x, 62, x, 506, _LINE, dashed=True)
        drawing.box(x - 75, 16, 150, 46, _PALE_BLUE)
        drawing.text(x, 36, name, "middle", bold=True)
        drawing.text(x, 53, holds, "middle", _QUIET, size=13)
    drawing.arrow(coordinator, worker - 4, 96, "ids of a chunk")
    _work(drawing, worker, 108, "makes the block")
    drawing.arrow(worker, servers - 4, 172, "numbers of its rows")
    drawing.arrow(servers, worker + 4, 204, "rows")
    drawing.box(205, 226, 455, 148, "#ffffff", _ORANGE)
    drawing.text(214, 244, "for each part of the block", colour=_ORANGE, size=13)
    drawing.line(worker, 250, worker, 374, _LINE, dashed=True)
    drawing.line(servers, 228, servers, 374, _LINE, dashed=True)
    _work(drawing, worker, 254, "trains on copies")
    drawing.arrow(worker, servers - 4, 318, "changes of shared rows")
    drawing.arrow(servers, worker + 4, 354, "current shared rows")
    drawing.arrow(worker, servers - 4, 410, "changes of other rows")
    _work(drawing, servers, 424, "add the changes")
    drawing.arrow(worker, coordinator + 4, 490, "words, loss")
    drawing.text(
        20, 532, "Rows travel twice for each block. Workers do not wait for each other.", colour=_QUIET, size=14
    )
    return drawing


def _work(drawing: Drawing, x: int, y: int, words: str) -> None:
    drawing.box(x - 72, y, 144, 30, _PALE_ORANGE, _ORANGE)
    drawing.text(x, y + 20, words, "middle", size=14)


_ROWS, _COLUMNS, _ROW, _COLUMN = 8, 6, 11, 14  # of the tables in the picture of places, and their sizes
_CHOSEN_ROW = 5
_TABLE_COLOURS = {"table": ("#b6e3ff", _BLUE), "another model": ("#ffd8b5", _ORANGE)}


@dataclass(frozen=True)
class Held:
    """What a task holds of a table."""

    task: str
    rows: Sequence[int] = range(_ROWS)
    columns: range = range(_COLUMNS)
    are_copies: bool = False
    of: str = "table"


def where_a_row_is() -> Drawing:
    """Draw which tasks have the row of one word, in one process and in every design."""
    drawing = Drawing("Where the row of one word is: in one process, and in each design of a cluster", 606)
    half = _COLUMNS // 2
    panels = [
        ("one process", "all threads train one table", [Held("this process")]),
        (
            "downpour, synchronous, lbfgs",
            "row r is on server r mod n",
            [
                Held("ps 0", range(0, _ROWS, 2)),
                Held("ps 1", range(1, _ROWS, 2)),
                Held("worker", (1, 2, 5), are_copies=True),
            ],
        ),
        (
            "columns",
            "each server has a part of every row",
            [Held("ps 0", columns=range(half)), Held("ps 1", columns=range(half, _COLUMNS)), Held("worker", ())],
        ),
        (
            "averaging",
            "workers have all rows and average them",
            [Held("worker 0"), Held("worker 1"), Held("ps 0", ())],
        ),
        (
            "partition",
            "each worker has a model of its own",
            [Held("worker 0"), Held("worker 1", of="another model"), Held("ps 0", ())],
        ),
    ]
    for number, (name, note, tasks) in enumerate(panels):
        _panel(drawing, 20 + 328 * (number % 2), 20 + 192 * (number // 2), name, note, tasks)
    for line, note in enumerate(
        ["Dark: the row of one word, id 5.", "Framed: copies that a block trains.", "White: not there."]
    ):
        drawing.text(358, 470 + 26 * line, note, colour=_QUIET, size=14)
    return drawing


def _panel(drawing: Drawing, x: int, y: int, name: str, note: str, tasks: list[Held]) -> None:
    """Draw the tables of some tasks beside each other."""
    drawing.box(x, y, 312, 180, _BLANK)
    drawing.text(x + 12, y + 24, name, bold=True)
    drawing.text(x + 12, y + 168, note, colour=_QUIET, size=14)
    for number, held in enumerate(tasks):
        left, top = x + 12 + 101 * number, y + 58
        drawing.text(left, top - 8, held.task, colour=_QUIET, size=13)
        drawing.box(left, top, _COLUMNS * _COLUMN, _ROWS * _ROW, _CARD)
        pale, dark = _TABLE_COLOURS[held.of]
        start, width = left + held.columns.start * _COLUMN, len(held.columns) * _COLUMN
        for row in held.rows:
            fill = dark if row == _CHOSEN_ROW else pale
            drawing.box(start, top + row * _ROW, width, _ROW, fill, _ORANGE if held.are_copies else _CARD)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


PICTURES: dict[str, Callable[[], Drawing]] = {
    "runs-and-batches.svg": runs_and_batches,
    "block-on-a-cluster.svg": block_on_a_cluster,
    "where-a-row-is.svg": where_a_row_is,
}


def main() -> int:
    """Write every picture; the exit status is 0."""
    for name, draw in PICTURES.items():
        (FOLDER / name).write_text(draw().svg(), encoding="utf8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
