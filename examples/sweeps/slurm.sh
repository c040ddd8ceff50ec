#!/bin/bash
# A sweep on Slurm: one job of a scheduler, workers of one thread, and the sweep.
#
#     mkdir -p runs
#     sbatch --ntasks 64 examples/sweeps/slurm.sh SPEC.toml runs/STORE.sqlite
#
# The same command goes on after a time limit. More workers may join at any time, and
# leave (scancel): their chips are run again by others.
#
#     sbatch --ntasks 64 --mem-per-cpu 1G --wrap \
#         "srun dask worker --scheduler-file runs/scheduler-JOBID.json --nthreads 1"
#
# The submitting shell has the environment with oscsim[cluster] active, the folder is
# shared by all nodes, and all see the same environment: other versions are refused.
#SBATCH --job-name=oscsim-sweep
#SBATCH --ntasks=8
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=1G
#SBATCH --time=02:00:00
#SBATCH --signal=B:TERM@120
#SBATCH --output=runs/slurm-%j.log
set -u
spec=${1:?give a specification} store=${2:?give a store}
file=$PWD/runs/scheduler-$SLURM_JOB_ID.json

dask scheduler --scheduler-file "$file" --no-dashboard 2>"$file.log" &
scheduler=$!
srun dask worker --scheduler-file "$file" --nthreads 1 --no-dashboard \
    --memory-limit "${SLURM_MEM_PER_CPU:-1024}MiB" \
    --local-directory "${TMPDIR:-/tmp}" 2>"$file.workers.log" &
python -c "import distributed, sys
distributed.Client(scheduler_file=sys.argv[1]).wait_for_workers(1, timeout=600)" "$file"

oscsim sweep "$spec" --store "$store" --scheduler "$file" &
sweep=$!
# before the time limit the sweep ends by itself; what is done is in the store
trap 'kill -TERM "$sweep"' TERM
wait "$sweep"
code=$?
if kill -0 "$sweep" 2>/dev/null; then
    wait "$sweep"
    code=$?
fi
kill "$scheduler"
wait
rm -f "$file" "$file.log" "$file.workers.log"
exit "$code"
