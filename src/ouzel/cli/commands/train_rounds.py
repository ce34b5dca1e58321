"""`ouzel train --workers N` and `--cluster ADDRESS`: distributed training in rounds, over processes or machines."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from ouzel.cli.ui.interrupts import Interrupted
from ouzel.cli.ui.training_report import OutputOptions, report_training

if TYPE_CHECKING:
    from ouzel.distributed.engine import Engine
    from ouzel.distributed.rounds import Training


def train_in_rounds(
    files: list[str], learner: str, output: str | None, answer: OutputOptions, options: dict[str, Any]
) -> None:
    """Train on files in rounds by `options`, None where not given, and write the outputs."""
    from ouzel.files import locked

    given = {name: value for name, value in options.items() if value is not None}
    with nullcontext() if output is None else locked(output):
        training = _train(files, learner, output, answer.as_json, given)
    written = (output, "model written to", lambda path: None)
    report_training(answer, training.report(), training.model, files, output, written, {"spread": training.spread})


def _train(files: list[str], learner: str, output: str | None, quiet: bool, options: dict[str, Any]) -> Training:
    from pathlib import Path

    from ouzel.cli.ui.progress import Screen
    from ouzel.distributed.training import train
    from ouzel.files import check_place

    if output is not None:
        check_place(Path(output))
    last: list[Training] = []
    with Screen(f"{len(files)} files" if len(files) > 1 else Path(files[0]).name, quiet=quiet) as screen:

        def begun(training: Training) -> None:
            last.append(training)
            engine = training.engine
            shards = len(training.plan.shards)
            dashboard = f"; its dashboard: {engine.dashboard}" if engine.dashboard else ""
            merging = f", merged every {training.merge_every:,} examples" if shards > 1 else ""
            screen.say(
                f"{engine.name}: {_workers(engine)}, {shards} shard{'s' if shards > 1 else ''}{merging}{dashboard}"
            )
            if engine.workers > shards:
                screen.say(
                    f"more workers than shards: some will have nothing to do; --shards {engine.workers} gives all"
                )

        def show(training: Training) -> None:
            screen.show(training.run)
            screen.update(_standing(training), sum(training.ended), len(training.ended))

        try:
            training = train(files, learner, output=output, on_begin=begun, on_round=show, say=screen.say, **options)
        except KeyboardInterrupt:
            raise Interrupted(_on_disk(last, output)) from None
        screen.finish(training.run)
        for remark in training.remarks:
            screen.say(f"left out: {remark}")
    return training


def _standing(training: Training) -> str:
    """Return the status of a training in a few words."""
    from ouzel.evaluation.formatting import NAMES

    scores, spread = training.run.scores, training.spread
    name = "error_rate" if scores.error_rate is not None else "rmse"
    rate = scores.examples / max(spread.wall, 1e-9)
    standing = f"{NAMES[name]} {getattr(scores, name) or 0.0:.4f}"
    return (
        f"round {training.rounds} · {scores.examples:,} examples · {rate:,.0f}/s · {standing} · "
        f"{spread.bytes / 1e6:,.0f} MB moved · {_workers(training.engine)}"
    )


def _workers(engine: Engine) -> str:
    return f"{engine.workers} worker{'s' if engine.workers > 1 else ''}"


def _on_disk(last: list[Training], output: str | None) -> str:
    """Return what an interrupted training has saved, in a sentence."""
    if not last or output is None or not last[0].saved:
        return "" if output is None else "no model was written; --checkpoint-every ROUNDS writes it on the way"
    return f"{output} holds round {last[0].saved}; the same command with --resume {output} goes on after that"
