"""`insync export tla`: two files, whole or not at all, and one line for whatever is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_a_module_and_its_configuration_are_written(insync, tmp_path: Path):
    result = insync(f"export tla election --bound epoch=1 --out {tmp_path}/made/here")

    folder = tmp_path / "made" / "here"
    assert result.exit_code == 0
    assert sorted(one.name for one in folder.iterdir()) == ["election_2_3.cfg", "election_2_3.tla"]
    assert "MODULE election_2_3 " in (folder / "election_2_3.tla").read_text()
    assert "MaxEpoch = 1\n" in (folder / "election_2_3.cfg").read_text()
    assert f"written: {folder}/election_2_3.tla" in result.stdout


def test_the_name_tells_the_version_and_every_switch_that_was_thrown(answer, tmp_path: Path):
    code, made = answer(
        f"export tla replication --version 2.0 --without isr_join_needs_epoch_start "
        f"--set truncation=hw --out {tmp_path}"
    )

    name = "replication_2_0_without_isr_join_needs_epoch_start_with_truncation_hw"
    assert code == 0
    assert made["module"] == name
    assert made["files"] == [f"{tmp_path}/{name}.tla", f"{tmp_path}/{name}.cfg"]
    assert made["without"] == {"isr_join_needs_epoch_start": False, "truncation": "hw"}
    assert made["constants"]["Brokers"] == "{1, 2}"
    assert made["invariants"][0] == "no_message_loss"


def test_an_older_export_is_replaced_and_the_same_line_writes_the_same_bytes(
    insync, tmp_path: Path
):
    line = f"export tla classic --version kip_101 --out {tmp_path}"
    (tmp_path / "classic_kip_101.tla").write_text("old")

    insync(line)
    first = (tmp_path / "classic_kip_101.tla").read_bytes()
    insync(line)

    assert first.startswith(b"----")
    assert (tmp_path / "classic_kip_101.tla").read_bytes() == first
    assert len(list(tmp_path.iterdir())) == 2


def test_the_module_names_the_command_that_wrote_it(insync, tmp_path: Path):
    insync(f"export tla election --without zk_writes_fenced --brokers 3 --out {tmp_path}")

    module = (tmp_path / "election_2_3_without_zk_writes_fenced.tla").read_text()
    assert "insync export tla election --version 2.3 --without zk_writes_fenced --brokers 3" in (
        module
    )


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("export", "name a format, one of tla; write: insync export [OPTIONS] FORMAT SYSTEM"),
        ("export tlc classic", "unknown format 'tlc': did you mean 'tla'? one of: tla"),
        ("export tla", "name a system, one of classic, election, replication, "),
        ("export tla electon", "unknown system 'electon': did you mean 'election'?"),
        ("export tla classic --version kip_1", "unknown version of classic 'kip_1'"),
        ("export tla classic --without fence", "classic has no switch 'fence'"),
        ("export tla election --without fence", "unknown switch of election 'fence'"),
        ("export tla election --bound log=1", "unknown bound of election 'log'"),
        ("export tla election --brokers 0", "bound brokers=0 is too small"),
        ("export tla election --out ''", "--out '': name a folder, such as --out specs"),
        ("export tla election --out README.md", "--out README.md: is a file; name a folder"),
        ("export tla election --out README.md/x", "--out README.md/x: "),
        ("export tla election classic", "unexpected extra argument (classic); write: insync"),
    ],
)
def test_wrong_use_is_answered_with_the_line_to_write(
    insync, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, says: str
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").write_text("here")

    result = insync(line)

    assert result.exit_code == 64
    assert says in result.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["README.md"]


def test_a_folder_in_the_place_of_a_file_is_refused_before_anything_is_written(
    insync, tmp_path: Path
):
    (tmp_path / "election_2_3.cfg").mkdir()

    result = insync(f"export tla election --out {tmp_path}")

    assert result.exit_code == 64
    assert "election_2_3.cfg is a folder there; name another folder" in result.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["election_2_3.cfg"]


def test_help_shows_a_line_to_copy(insync):
    result = insync("export --help")

    assert result.exit_code == 0
    assert "insync export tla election --without zk_writes_fenced --out specs" in result.stdout
