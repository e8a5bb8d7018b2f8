#!/bin/bash
# Submits all shards: one array job, or several where SLURM allows fewer tasks in one (MaxArraySize; 1001 unless set otherwise).
# Run it where sbatch is: cd FOLDER && bash submit.sh [OPTIONS OF sbatch]
set -euo pipefail
cd "$$(dirname "$$0")"
shards=$shards
limit=$$(scontrol show config 2>/dev/null | awk '$$1 == "MaxArraySize" {print $$3}' || true)
[ "$${limit:-0}" -gt 0 ] || limit=$limit
for ((first = 0; first < shards; first += limit)); do
    last=$$((shards - first < limit ? shards - first - 1 : limit - 1))
    sbatch --array="0-$$last" --export="ALL,FIRST_SHARD=$$first" "$$@" ask.sbatch
done
