"""The record of a run from which it can be repeated bit for bit."""

import hashlib
import platform
import tomllib
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from oscsim.bridge.checkpoint import load_checkpoint
from oscsim.bridge.engine import Progress
from oscsim.bridge.infer import AnyRun, as_data, infer
from oscsim.bridge.language import LanguageRun
from oscsim.errors import SpecError
from oscsim.files import write_whole
from oscsim.libraries import library_versions
from oscsim.models.fixed_query import ReadOut
from oscsim.substrate.device import Device, Rung
from oscsim.substrate.perturb import Perturbation
from oscsim.substrate.phase_chip import Ranging
from oscsim.substrate.phase_update import How

NONE = "none"
"""Stands for an absent value, which TOML cannot say; no field takes this text."""

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Manifest(BaseModel):
    """Everything that determines a run, and the digest of its outputs.

    Attributes
    ----------
    checkpoint, data : str
        Absolute paths.
    config : dict
        Fields that were given beside the checkpoint file; ``"none"`` for None.
    checkpoint_sha256, data_sha256 : str
        Digests of the files.
    device : dict
        The whole device description.
    readout : {"direct", "prefix"}
        How the value sum was done.
    update : {"map", "flow"}
        How Kuramoto attention was updated.
    ranging : {"fixed", "row"}
        What Kuramoto attention loaded as full scale.
    windows, context : int or None
        Windows of a language model's run, and bytes of each.
    chips_done : int
        Chips that the digest covers; fewer than ``chips`` if interrupted.
    logits_sha256 : str
        Digest of the logits of the substrate, float64, in the order chip,
        repeat, item; of a language model, of its bits per token, in the order
        chip, repeat, window, position.
    versions : dict of str to str
        Python and libraries.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    checkpoint: str
    checkpoint_sha256: Sha256
    config: dict[str, Any] = Field(default_factory=dict)
    data: str
    data_sha256: Sha256
    rung: Rung
    chips: int
    chips_done: int
    repeats: int
    seed: int
    perturb: str | None = None
    readout: ReadOut = "direct"
    update: How = "map"
    ranging: Ranging = "fixed"
    windows: int | None = None
    context: int | None = None
    logits_sha256: Sha256
    versions: dict[str, str]
    device: dict[str, Any]

    @classmethod
    def of(cls, run: AnyRun) -> "Manifest":
        """Return the record of a run."""
        setting = run.setting
        perturbation = setting.perturbation
        return cls(
            checkpoint=str(run.checkpoint.path.resolve()),
            checkpoint_sha256=run.checkpoint.sha256,
            config={
                name: NONE if value is None else value
                for name, value in run.checkpoint.given.items()
            },
            data=str(Path(run.data.path).resolve()),
            data_sha256=run.data.sha256,
            rung=setting.rung,
            chips=run.chips_asked,
            chips_done=len(run.outputs),
            repeats=run.outputs.shape[1],
            seed=setting.seed,
            perturb=None if perturbation is None else str(perturbation),
            readout=setting.readout,
            update=setting.update,
            ranging=setting.ranging,
            windows=len(run.data) if isinstance(run, LanguageRun) else None,
            context=run.data.context if isinstance(run, LanguageRun) else None,
            logits_sha256=digest(run),
            versions=_versions(),
            device=setting.device.model_dump(mode="python", exclude_none=True),
        )

    @classmethod
    def load(cls, path: Path) -> "Manifest":
        """Read ``run.toml``.

        Raises
        ------
        SpecError
            If the file is missing or not the record of a run.
        """
        if path.is_dir():
            path = path / "run.toml"
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise SpecError(f"there is no run record {path}") from None
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise SpecError(f"{path} is not a run record: {error}") from None
        try:
            return cls(**content)
        except ValidationError as error:
            detail = error.errors()[0]
            where = ".".join(str(part) for part in detail["loc"])
            raise SpecError(
                f"{path} is not a run record: {where}: {detail['msg']}"
            ) from None

    def save(self, path: Path) -> None:
        """Write the record as TOML, whole or not at all."""
        content = self.model_dump(mode="python", exclude_none=True)
        write_whole(path, tomli_w.dumps(content).encode())


def digest(run: AnyRun) -> str:
    """Return the SHA-256 of a run's logits, or of the bits of a language run."""
    return hashlib.sha256(np.ascontiguousarray(run.outputs).tobytes()).hexdigest()


def rerun(
    manifest: Manifest,
    *,
    checkpoint: str | None = None,
    data: str | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> AnyRun:
    """Repeat a recorded run.

    Parameters
    ----------
    manifest : Manifest
        The record.
    checkpoint, data : str, optional
        Where the files lie now, if not where they were.
    n_threads : int, optional
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with (chips done, chips asked).

    Raises
    ------
    SpecError
        If the checkpoint or the data are not the recorded ones.
    """
    given = {
        name: None if value == NONE else value
        for name, value in manifest.config.items()
    }
    model = load_checkpoint(checkpoint or manifest.checkpoint, given or None)
    _require_same("checkpoint", manifest.checkpoint_sha256, model.sha256)
    found = as_data(data or manifest.data, model, manifest.windows, manifest.context)
    _require_same("data", manifest.data_sha256, found.sha256)
    perturb = manifest.perturb
    return infer(
        model,
        found,
        device=Device.parse(manifest.device, where="recorded device"),
        rung=manifest.rung,
        chips=manifest.chips_done,
        repeats=manifest.repeats,
        seed=manifest.seed,
        perturbation=None if perturb is None else Perturbation.parse(perturb),
        readout=manifest.readout,
        update=manifest.update,
        ranging=manifest.ranging,
        n_threads=n_threads,
        progress=progress,
    )


def changed_versions(manifest: Manifest) -> list[str]:
    """Return the libraries whose version differs from the recorded one."""
    now = _versions()
    return [
        f"{name} {then} -> {now.get(name, 'none')}"
        for name, then in manifest.versions.items()
        if now.get(name) != then
    ]


def _require_same(what: str, recorded: str, found: str) -> None:
    if recorded != found:
        raise SpecError(
            f"the {what} is not the recorded one: sha256 {found[:12]}..., "
            f"recorded {recorded[:12]}..."
        )


def _versions() -> dict[str, str]:
    return {"python": platform.python_version()} | library_versions()
