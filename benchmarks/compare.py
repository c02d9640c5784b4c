"""A sweep of 24 values of k against 24 separate runs, on Adult."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from velado import Project, compare, run
from velado.studies import data_folder, ubb

KS = range(2, 26)


def project(data: Path, folder: Path, k: int) -> Path:
    columns = {
        c.name: {"role": c.role, "hierarchy": {**c.hierarchy, "file": str(Path(c.hierarchy["file"]).resolve())}}
        for c in ubb.columns(data / "adult")
    }
    described = {
        "source": {"path": str((data / "adult" / "adult.csv").resolve()), "delimiter": ";"},
        "columns": columns,
        "models": [{"k-anonymity": {"k": k}}],
        "output": {"path": str(folder / f"adult_{k}.csv")},
    }
    path = folder / f"adult_{k}.yaml"
    path.write_text(yaml.safe_dump(described), encoding="utf-8")
    return path


def command(*arguments: str) -> float:
    began = time.perf_counter()
    subprocess.run([str(Path(sys.executable).with_name("velado")), *arguments], check=True, capture_output=True)
    return time.perf_counter() - began


def main() -> None:
    data = data_folder()
    with tempfile.TemporaryDirectory() as made:
        paths = [project(data, Path(made), k) for k in KS]
        run(paths[0])
        for repeat in range(3):
            began = time.perf_counter()
            for path in paths:
                run(path)
            apart = time.perf_counter() - began
            began = time.perf_counter()
            compared = compare(Project.load(paths[0]), {"k": list(KS)})
            together = time.perf_counter() - began
            assert len(compared.solved) == len(KS)
            print(f"in one process, {repeat + 1}: {apart:.2f} s apart, {together:.2f} s together, {together / apart:.3f}")
        apart = sum(command("run", str(path)) for path in paths)
        together = command("compare", str(paths[0]), "--k", "2..25")
        print(f"as commands: {apart:.2f} s apart, {together:.2f} s together, {together / apart:.3f}")


if __name__ == "__main__":
    main()
