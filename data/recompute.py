"""Recomputes a finished study's headline figures from its exported ratings alone: `python data/recompute.py ratings.csv`."""

import sys

import numpy as np
import pandas as pd

LABELS = ["ABSENT", "CONSISTENT", "COMPLEMENTARY", "DIVERGENT", "CONTRADICTORY"]
rows = pd.read_csv(sys.argv[1]).query("kind == 'study'")
items = rows.drop_duplicates("item_id").set_index("item_id")[["judge", "gold", "design_weight"]]
said = items.join(rows.pivot(index="item_id", columns="seat", values="label"))[["A", "B", "gold", "judge"]]
code, cost = said.map(LABELS.index), np.subtract.outer(np.arange(5), np.arange(5)) ** 2 / 16

print("figure,value")
for first, second in ("A", "B"), ("A", "judge"), ("B", "judge"), ("gold", "judge"):
    for scope, weight in ("sample", np.ones(len(items))), ("population", items["design_weight"]):
        table = np.zeros((5, 5))
        np.add.at(table, (code[first], code[second]), weight)
        share = table / table.sum()
        kappa = 1 - (cost * share).sum() / (cost * np.outer(share.sum(axis=1), share.sum(axis=0))).sum()
        print(f"{first} {second} {scope} agreement,{share.trace():.15g}\n{first} {second} {scope} kappa_quadratic,{kappa:.15g}")
for label in LABELS:
    print(f"prevalence {label},{np.average(said['gold'] == label, weights=items['design_weight']):.15g}")
