"""How far apart the learned positions of a position-scale study are: `position_distances.py studies/position-scale`.

Reads the checkpoints of every trial and prints, for each start of the positions, medians over the trials: the size of
the positions, and the root mean square distance between patches of the two garments, and of a digit and a garment.
"""
import csv
import json
import pathlib
import struct
import sys

import numpy as np

STEPS = (500, 1000, 2000, 6000)


def positions_of(checkpoint):
    with open(checkpoint, "rb") as file:
        header_bytes = struct.unpack("<Q", file.read(8))[0]
        entry = json.loads(file.read(header_bytes))["positions"]
        begin, end = entry["data_offsets"]
        file.seek(8 + header_bytes + begin)
        return np.frombuffer(file.read(end - begin), "<f4").reshape(entry["shape"])


def rms(x):
    return float(np.sqrt(np.mean(np.square(x, dtype=np.float64))))


def measures(positions):
    patches = positions[1:]  # without the cls token
    side = round(len(patches) ** 0.5)
    grid, half = patches.reshape(side, side, -1), side // 2
    digit, garment_1, garment_2 = grid[:half, :half], grid[:half, half:], grid[half:, :half]
    return rms(patches), rms(garment_1 - garment_2), rms(digit - garment_1)


def main():
    if len(sys.argv) != 2 or not (pathlib.Path(sys.argv[1]) / "trials.csv").exists():
        sys.exit("usage: position_distances.py STUDY, where STUDY is the folder of a finished position-scale study")
    study = pathlib.Path(sys.argv[1])
    table = {}
    for trial in csv.DictReader(open(study / "trials.csv")):
        start = float(trial["point"].rsplit("=", 1)[1])
        counts = table.setdefault(start, {"runs": 0, "moments": 0})
        counts["runs"] += 1
        counts["moments"] += trial["moment"] != ""
        for step in STEPS:
            file = study / trial["directory"] / "checkpoints" / f"step-{step}" / "model.safetensors"
            if file.exists():
                counts.setdefault(step, []).append(measures(positions_of(file)))
    print("start  moments  step  trials   size  garment-garment  digit-garment")
    for start, counts in sorted(table.items()):
        for step in STEPS:
            size, alike, apart = np.median(np.array(counts[step]), axis=0)
            moments = f"{counts['moments']}/{counts['runs']}"
            print(f"{start:5}  {moments:>7}  {step:4}  {len(counts[step]):6}  {size:5.3f}  {alike:15.3f}  {apart:13.3f}")


if __name__ == "__main__":
    main()
