"""Line charts as SVG, without anything that is not in Python."""

import math

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 70, 150, 40, 50
LABEL_HEIGHT = 15
COLOURS = ("#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#b9770e", "#555555")


def _escape(text):
    return (str(text).replace("&", "&amp;").replace("<", "&lt;")
            .replace(">", "&gt;"))


def _ticks(highest):
    """About five round numbers from 0 up to at least `highest`."""
    if highest <= 0:
        return [0, 1]
    step = 10 ** math.floor(math.log10(highest / 4))
    for factor in (1, 2, 5, 10):
        if highest / (step * factor) <= 5:
            step *= factor
            break
    count = math.ceil(highest / step)
    return [step * i for i in range(count + 1)]


def _number(value):
    return f"{value:g}"


def _text(x, y, text, anchor="middle", extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>'
            f"{_escape(text)}</text>")


def _frame(xs, ys, x_label, y_label, to_x, to_y):
    parts = []
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for y in ys:
        parts.append(f'<line x1="{LEFT}" y1="{to_y(y):.1f}" x2="{right}" '
                     f'y2="{to_y(y):.1f}" stroke="#dddddd"/>')
        parts.append(_text(LEFT - 8, to_y(y) + 4, _number(y), "end"))
    for x in xs:
        parts.append(_text(to_x(x), bottom + 18, _number(x)))
    parts.append(_text((LEFT + right) / 2, HEIGHT - 12, x_label))
    middle = (TOP + bottom) / 2
    parts.append(_text(18, middle, y_label,
                       extra=f' transform="rotate(-90 18 {middle})"'))
    return parts


def _apart(wanted):
    """Heights near the wanted ones at which no label covers another."""
    placed = [0] * len(wanted)
    lowest = -math.inf
    for index in sorted(range(len(wanted)), key=wanted.__getitem__):
        placed[index] = max(wanted[index], lowest + LABEL_HEIGHT)
        lowest = placed[index]
    return placed


def lines(path, title, x_label, y_label, series):
    """Writes a chart of `series`, a dict from names to lists of (x, y)."""
    points = [point for values in series.values() for point in values]
    xs = _ticks(max(x for x, _ in points))
    ys = _ticks(max(y for _, y in points))
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def to_x(x):
        return LEFT + width * x / xs[-1]

    def to_y(y):
        return TOP + height * (1 - y / ys[-1])

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
             f'height="{HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             _text(WIDTH / 2, 22, title, extra=' font-size="15"')]
    parts += _frame(xs, ys, x_label, y_label, to_x, to_y)
    label_ys = _apart([to_y(values[-1][1]) for values in series.values()])
    for number, (name, values) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        path_points = " ".join(f"{to_x(x):.1f},{to_y(y):.1f}"
                               for x, y in values)
        parts.append(f'<polyline points="{path_points}" fill="none" '
                     f'stroke="{colour}" stroke-width="2"/>')
        parts.append(_text(WIDTH - RIGHT + 8, label_ys[number] + 4, name,
                           "start", f' fill="{colour}"'))
    parts.append("</svg>\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts))
    print(f"written: {path}")
