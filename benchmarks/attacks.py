"""The attacks of the security review of November 2026, repeated: what each did then, and what the tests that repeat it say now.

    python -m benchmarks.attacks        run the tests, and print the table (Markdown)
    python -m benchmarks.attacks list   print the table without running them

An attack that no test repeats names the reason.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]


class Attack(NamedTuple):
    """What was tried, what came of it, and the names of the tests (without `test_`) or the reason why there is none."""

    number: str
    attack: str
    then: str
    tests: tuple[str, ...] = ()
    reason: str = ""


ATTACKS = (
    Attack("1", "hundreds of idle tabs of one signed-out client", "258 stop the service",
           ("hundreds_of_tabs_of_one_address_leave_the_server_to_others", "an_idle_stranger_gives_way_only_where_it_is_crowded")),
    Attack("2", "an e-mail address that nobody verified, and look-alike letters", "sign in as PI",
           ("the_first_verified_sign_in_binds_and_no_other_user_of_the_same_address_enters",
            "an_address_is_believed_where_the_provider_says_that_it_verified_it",
            "letters_that_look_alike_are_not_folded_into_ascii")),
    Attack("3", "a classifier of style", "names the author of 83 % of the NIH answers", (),
           "a property of texts; see *Style* in SECURITY.md"),
    Attack("4", "links in a release folder", "a secrets file on a page",
           ("a_linked_file_is_set_aside_and_none_of_it_is_stored", "a_linked_folder_is_not_entered",
            "a_file_is_opened_only_where_it_is_a_plain_one_of_its_size")),
    Attack("5", "texts that are slow for regular expressions", "52 of 298 patterns, health 19 s",
           ("no_pattern_takes_more_than_its_text_takes", "no_pattern_of_the_pipeline_takes_more_than_its_text_takes",
            "an_answer_of_capitals_is_read_and_masked_at_once", "the_server_answers_others_while_a_hostile_text_is_given_up",
            "what_two_long_texts_differ_in_is_found_elsewhere_and_kept")),
    Attack("6", "reading the hashes of passwords with another account", "readable by all",
           ("no_other_account_of_the_machine_reads_the_hashes_of_passwords",)),
    Attack("7", "an emptied label store", "opens the door and is backed up",
           ("a_store_that_lost_its_accounts_is_neither_opened_nor_served_nor_backed_up",)),
    Attack("8", "four damages of a journal", "2 stack traces, paid replies thrown away",
           ("a_damaged_journal_ends_in_one_sentence_and_the_rest_of_it_is_saved",)),
    Attack("9", "HTML and headings in the words of a data sheet", "20 tags, 9 links, 2 pictures",
           ("the_makers_words_bring_no_html_no_link_no_picture_and_no_heading",)),
    Attack("10", "a package under this program's name; unpinned extras and build", "code runs as root",
           ("from_a_wheel_the_hint_names_the_folder_and_no_package_that_anybody_could_register",
            "every_extra_has_hashes_on_top_of_the_base_install_and_building_has_its_own")),
    Attack("11", "several servers on a fresh folder", "all serve it",
           ("of_servers_that_start_on_a_fresh_folder_one_serves_and_none_creates_a_database",)),
    Attack("12", "the sign-in page while the label store fails", "path, user, host and port",
           ("where_the_accounts_cannot_be_read_a_stranger_learns_no_path",)),
    Attack("13", "a data folder that cannot be written", "the server ends in a stack trace",
           ("a_folder_that_cannot_be_written_ends_in_one_sentence", "every_command_and_the_server_end_in_one_sentence",
            "on_a_full_or_read_only_disk_every_command_works_or_tells_the_cause")),
    Attack("14", "damaged stores of runs", "half are called another version",
           ("a_damaged_store_says_that_it_is_damaged",)),
    Attack("15", "a session of a clock that was 300 days ahead", "valid now",
           ("a_session_of_a_clock_that_was_ahead_is_none",
            "a_clock_that_was_ahead_or_set_back_locks_nobody_out_and_signs_nobody_in")),
    Attack("16", "an Origin that cannot be parsed", "status 500 and a stack trace", ("an_origin_that_is_no_address_is_refused",)),
    Attack("17", "marks of turns, tags and unseen letters in prompts", "19 strings pass",
           ("a_mark_of_a_turn_is_one_in_every_spelling",)),
    Attack("18", "names run together, misspelled or in lower case", "20 of 88 pass", (),
           "said in SECURITY.md; blinding is measured by itself"),
    Attack("19", "a statement on a store that reads files or loads extensions", "allowed",
           ("a_statement_on_a_store_reads_no_file_and_changes_no_setting",)),
    Attack("20", "scripts of others, cookies of neighbours, caches, an edited access log", "possible, unseen",
           ("every_answer_tells_the_browser_what_it_may_do_with_it",
            "under_https_only_the_cookie_that_no_neighbour_can_set_is_believed",
            "an_entry_that_was_changed_past_the_triggers_is_found")),
    Attack("Ask", "320 questions asked and left", "the next visitor waits for all",
           ("a_question_that_was_left_while_it_waited_is_withdrawn",)),
)  # fmt: skip


def node_ids(names: set[str]) -> dict[str, str]:
    """Name of a test -> its address for pytest."""
    found = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        for name in re.findall(r"^(?:async )?def test_(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            if name in names:
                found[name] = f"{path.relative_to(ROOT)}::test_{name}"
    return found


def results(addresses: dict[str, str]) -> dict[str, str]:
    """Name of a test -> `held`, `FAILED` or `skipped`."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", f"--junitxml={report}", *addresses.values()]
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        cases = list(ElementTree.parse(report).iter("testcase"))
    found: dict[str, str] = {}
    for case in cases:
        name = case.get("name", "").removeprefix("test_").partition("[")[0]
        bad = case.find("failure") is not None or case.find("error") is not None
        state = "FAILED" if bad else "skipped" if case.find("skipped") is not None else "held"
        found[name] = state if found.get(name, "held") == "held" else found[name]
    return found


def table(states: dict[str, str]) -> str:
    """One row an attack."""
    lines = ["| | attack | then | now |", "|---|---|---|---|"]
    for one in ATTACKS:
        told = sorted({states.get(name, "not run") for name in one.tests})
        now = one.reason or f"{', '.join(told)} ({len(one.tests)} test{'s' * (len(one.tests) > 1)})"
        lines.append(f"| {one.number} | {one.attack} | {one.then} | {now} |")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Print the table; 1 where an attack has no test that exists, or one failed."""
    names = {name for one in ATTACKS for name in one.tests}
    addresses = node_ids(names)
    if missing := names - addresses.keys():
        print("No such test:", *sorted(missing))
        return 1
    states = {} if arguments == ["list"] else results(addresses)
    print(table(states))
    return int("FAILED" in states.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
