"""What every section of the benchmarks writes at its end."""

import json
import math
import pathlib
import statistics

# Two-sided 95 % quantiles of Student's t, by degrees of freedom from 1.
T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)


def summary(values):
    """Mean, half of its 95 % confidence interval, standard deviation."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, 0.0, 0.0
    deviation = statistics.stdev(values)
    t = T95[min(len(values) - 1, len(T95)) - 1]
    return mean, t * deviation / math.sqrt(len(values)), deviation


def bar(name, measured, unit, must_be, limit):
    return {"name": name, "measured": round(measured, 3), "unit": unit,
            "must_be": must_be, "bar": limit}


def worst(differences):
    """The one of these that is furthest from nothing."""
    return max(differences, key=abs)


def holds(entry):
    if entry["must_be"] == "==":
        return entry["measured"] == entry["bar"]
    if entry["must_be"] == "<=":
        return entry["measured"] <= entry["bar"]
    return entry["measured"] >= entry["bar"]


def finish(section, rows, bars):
    """Prints the bars, writes the JSON; returns the exit code."""
    print("\n| bar | measured | must be | |\n|---|---:|---:|---|")
    for entry in bars:
        verdict = "ok" if holds(entry) else "**falls short**"
        print(f"| {entry['name']} | {entry['measured']:g} {entry['unit']} | "
              f"{entry['must_be']} {entry['bar']:g} | {verdict} |")
    path = pathlib.Path("build/bench") / f"{section}.json"
    path.write_text(json.dumps({"rows": rows, "bars": bars}, indent=1) + "\n")
    print(f"\nwritten: {path}")
    return 0 if all(map(holds, bars)) else 1
