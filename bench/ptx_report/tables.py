"""Tables in Markdown: written, read again, and compared."""
import re


def number(x, digits=0):
    if x is None:
        return ""
    return f"{x:,.{digits}f}" if isinstance(x, float) else f"{x:,}"


def table(header, rows, labels):
    """`labels` columns of words first, numbers to the right."""
    width = [max(len(str(row[i])) for row in [header, *rows]) for i in range(len(header))]
    fit = lambda i, cell: str(cell).ljust(width[i]) if i < labels else str(cell).rjust(width[i])
    line = lambda row: "| " + " | ".join(fit(i, cell) for i, cell in enumerate(row)) + " |"
    rule = "| " + " | ".join("-" * w if i < labels else "-" * (w - 1) + ":" for i, w in enumerate(width)) + " |"
    return "\n".join([line(header), rule, *map(line, rows)])


def read(text):
    """{(heading, label, column): number} of all tables; labels are the columns whose rule has no colon."""
    found, heading, header, words = {}, "", None, 0
    for line in text.splitlines():
        if line.startswith("## "):
            heading = line[3:].strip()
        cells = [c.strip() for c in line.strip().strip("|").split("|")] if line.startswith("|") else None
        if cells is None:
            header, words = None, 0
        elif header is None:
            header = cells
        elif all(re.fullmatch(r"-+:?", c) for c in cells):
            words = sum(not c.endswith(":") for c in cells)
        else:
            label = " ".join(dict.fromkeys(cells[:words]))
            for column, cell in list(zip(header, cells))[words:]:
                try:
                    found[heading, label, column] = float(cell.replace(",", ""))
                except ValueError:
                    pass
    return found


def changes(old, new, headings, least):
    """Of the tables under these headings: lines on numbers that differ by more than this share, and the rows that came or went."""
    old, new = ({k: v for k, v in read(text).items() if k[0] in headings} for text in (old, new))
    rows_old, rows_new = ({k[:2]: None for k in numbers} for numbers in (old, new))
    found = {"changed": [], "new": [label for heading, label in rows_new if (heading, label) not in rows_old],
             "gone": [label for heading, label in rows_old if (heading, label) not in rows_new]}
    for key, after in new.items():
        before = old.get(key)
        if before is not None and abs(after - before) > least * abs(before):
            share = f" ({after / before - 1:+.1%})" if before else ""
            found["changed"].append(f"{'+' if after > before else '-'} {key[1]}, {key[2]}: {before:,.10g} -> {after:,.10g}{share}")
    return found
