"""The demo's picture: bytes that crossed every link, without and with the variable, and the times beside the bound."""
import os
import re
import shutil
import subprocess

from demo_parts.setting import TOPOLOGY
from whole_file import replaced

FONT = "DejaVu Sans, Arial, sans-serif"
WIDTH, TOP, GAP = 980, 62, 20
COLOURS = {"native": "#8a97a5", "topo": "#2b5c8a"}
TITLES = {"native": "Open MPI alone", "topo": "one variable set"}


def text(x, y, words, size=13, anchor="start", colour="#1b2733", bold=False):
    weight = ' font-weight="bold"' if bold else ""
    words = words.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}"{weight}>{words}</text>'


def network(runs, name, folder, darkest):
    """`colltopo draw` of the bytes, and its size."""
    path = f"{folder}/{name}-links.csv"
    links = subprocess.run(["colltopo", "topology", TOPOLOGY, "-o", "-"], capture_output=True, text=True, check=True).stdout
    ends = [(int(tail), int(head)) for tail, head in re.findall(r'"tail": ?(\d+), ?"head": ?(\d+)', " ".join(links.split()))]
    with replaced(path, encoding="ascii") as file:
        file.write("link,tail,head,bytes\n")
        file.writelines(f"{number},{tail},{head},{count}\n" for number, ((tail, head), count) in enumerate(zip(ends, runs[name]["links"])))
    title = f"{TITLES[name]}: MB on every link"
    command = ["colltopo", "draw", TOPOLOGY, "--loads-from", path, "--darkest", str(darkest), "--title", title, "-o", "-"]
    svg = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    width, height = map(float, re.match(r'<svg [^>]*width="([0-9.]+)" height="([0-9.]+)"', svg).groups())
    return svg, width, height


def bars(result, y):
    """A pair of bars for each program, to a common scale within the pair, and the bound as a line."""
    left, right = 250, WIDTH - 150
    shapes = []
    for key, name in (("transform", f"3D transform {result['grid']}"), ("alltoall", f"all-to-all, {result['shard_bytes'] // 1024} KiB a pair")):
        row = result[key]
        scale = (right - left) / row["native_ms"]
        shapes.append(text(left - 12, y + 30, name, 14, "end", bold=True))
        shapes.append(text(left - 12, y + 48, f"{row['gain']:.2f} times as fast", 14, "end", COLOURS["topo"], bold=True))
        for place, contender in enumerate(("native", "topo")):
            long, top = row[f"{contender}_ms"] * scale, y + 6 + 30 * place
            shapes.append(f'<rect x="{left}" y="{top}" width="{long:.1f}" height="24" rx="2" fill="{COLOURS[contender]}"/>')
            shapes.append(text(left + 8, top + 17, TITLES[contender], 12, colour="white"))
            shapes.append(text(left + long + 8, top + 17, f"{row[f'{contender}_ms']:.0f} ms", 13))
        at = left + row["bound_ms"] * scale
        shapes.append(f'<line x1="{at:.1f}" y1="{y}" x2="{at:.1f}" y2="{y + 68}" stroke="#a5151f" stroke-width="2" stroke-dasharray="5 3"/>')
        shapes.append(text(at, y + 82, f"bound {row['bound_ms']:.0f} ms", 11, "middle", "#a5151f"))
        y += 104
    return shapes, y


def write(result, runs, folder):
    """The path of the picture; beside the SVG a PNG where a program can make one."""
    darkest = max(result["busiest_link_bytes"].values())
    drawn = [network(runs, name, folder, darkest) for name in ("native", "topo")]
    high = max(height for _, _, height in drawn)
    part = (WIDTH - GAP) / 2
    scale = min(1.0, part / max(width for _, width, _ in drawn))
    shapes, y = bars(result, TOP + high * scale + 16)
    notes = f"{result['hosts']} hosts on {result['topology']}, {result['rate_mbit']} Mbit/s a link, in network namespaces. The bound is certified: no all-to-all on this network is faster."
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + 24:.0f}" viewBox="0 0 {WIDTH} {y + 24:.0f}" font-family="{FONT}">',
        '<rect width="100%" height="100%" fill="white"/>',
        text(24, 30, f"The same program, the same network: {result['transform']['gain']:.2f} times as fast by one variable", 20, bold=True),
        text(24, 50, notes, 11, colour="#556677"),
    ]
    for place, (svg, width, height) in enumerate(drawn):
        x = place * (part + GAP) + (part - width * scale) / 2
        inner = svg.replace("<svg ", f'<svg x="{x:.0f}" y="{TOP}" ', 1)
        inner = re.sub(r'width="[0-9.]+" height="[0-9.]+" viewBox', f'width="{width * scale:.0f}" height="{height * scale:.0f}" viewBox', inner, count=1)
        lines.append(inner.strip())
    path = f"{folder}/demo.svg"
    with replaced(path, encoding="utf-8") as file:
        file.write("\n".join(lines + shapes) + "\n</svg>\n")
    if shutil.which("rsvg-convert"):
        png = subprocess.run(["rsvg-convert", path, "-o", f"{folder}/demo.png"], capture_output=True, check=False)
        if png.returncode == 0 and os.path.exists(f"{folder}/demo.png"):
            return f"{path} and {folder}/demo.png"
    return path
