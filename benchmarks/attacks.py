"""The attacks of the security review of November 2026, repeated: what each did then, and what the tests that repeat it say now.

    python -m benchmarks.attacks        run the tests, and print the table (Markdown)
    python -m benchmarks.attacks list   print the table without running them

Attacks that held are repeated too: *then* is what the review saw of them.
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
    """What was tried, what came of it, the names of the tests (without `test_`), and what they do not say."""

    number: str
    attack: str
    then: str
    tests: tuple[str, ...]
    note: str = ""


FINDINGS = (
    Attack("1", "hundreds of idle tabs of one signed-out client", "258 stop the service",
           ("hundreds_of_tabs_of_one_address_leave_the_server_to_others", "an_idle_stranger_gives_way_only_where_it_is_crowded",
            "the_places_in_all_are_kept_within_the_open_files",
            "nginx_serves_200_requests_of_one_address_at_once_and_refuses_more")),
    Attack("2", "an e-mail address that nobody verified, and look-alike letters", "sign in as PI",
           ("the_first_verified_sign_in_binds_and_no_other_user_of_the_same_address_enters",
            "an_address_is_believed_where_the_provider_says_that_it_verified_it",
            "letters_that_look_alike_are_not_folded_into_ascii")),
    Attack("3", "a classifier of style", "names the author of 83 % of the NIH answers",
           ("a_planted_habit_is_found_and_named", "no_item_of_the_nih_release_names_a_body_with_phrases_masked"),
           "measured: see *Style*"),
    Attack("4", "links in a release folder", "a secrets file on a page",
           ("a_linked_file_is_set_aside_and_none_of_it_is_stored", "a_linked_folder_is_not_entered",
            "a_file_is_opened_only_where_it_is_a_plain_one_of_its_size",
            "inputs_of_the_pipeline_are_read_from_their_own_folder")),
    Attack("5", "texts that are slow for regular expressions", "52 of 298 patterns, health 19 s",
           ("no_pattern_takes_more_than_its_text_takes", "no_pattern_of_the_pipeline_takes_more_than_its_text_takes",
            "an_answer_of_capitals_is_read_and_masked_at_once", "the_server_answers_others_while_a_long_hostile_text_is_read",
            "what_two_long_texts_differ_in_is_found_elsewhere_and_kept",
            "while_hostile_answers_are_read_another_visitor_gets_every_page_within_a_second")),
    Attack("6", "reading the hashes of passwords with another account", "readable by all",
           ("no_other_account_of_the_machine_reads_the_hashes_of_passwords",
            "a_new_store_is_its_accounts_own_whatever_the_mask_of_the_process")),
    Attack("7", "an emptied label store", "opens the door and is backed up",
           ("a_store_that_lost_its_accounts_is_neither_opened_nor_served_nor_backed_up",
            "a_database_of_a_server_that_lost_its_accounts_is_not_opened")),
    Attack("8", "four damages of a journal", "2 stack traces, paid replies thrown away",
           ("a_damaged_journal_ends_in_one_sentence_and_the_rest_of_it_is_saved",)),
    Attack("9", "HTML and headings in the words of a data sheet", "20 tags, 9 links, 2 pictures",
           ("the_makers_words_bring_no_html_no_link_no_picture_and_no_heading",
            "no_export_runs_links_or_hides_anything_of_a_hostile_release")),
    Attack("10", "a package under this program's name; unpinned extras and build", "code runs as root",
           ("from_a_wheel_the_hint_names_the_folder_and_no_package_that_anybody_could_register",
            "every_extra_has_hashes_on_top_of_the_base_install_and_building_has_its_own",
            "a_base_image_without_a_digest_stops_the_build")),
    Attack("11", "several servers on a fresh folder", "all serve it",
           ("of_servers_that_start_on_a_fresh_folder_one_serves_and_none_creates_a_database",)),
    Attack("12", "the sign-in page while the label store fails", "path, user, host and port",
           ("where_the_accounts_cannot_be_read_a_stranger_learns_no_path",)),
    Attack("13", "a data folder that cannot be written", "the server ends in a stack trace",
           ("a_folder_that_cannot_be_written_ends_in_one_sentence", "every_command_and_the_server_end_in_one_sentence",
            "on_a_full_or_read_only_disk_every_command_works_or_tells_the_cause",
            "a_server_on_a_read_only_disk_ends_in_one_sentence_and_on_a_full_one_serves_what_can_be_read")),
    Attack("14", "damaged stores of runs", "half are called another version",
           ("a_damaged_store_says_that_it_is_damaged",)),
    Attack("15", "a session of a clock that was 300 days ahead", "valid now",
           ("a_session_of_a_clock_that_was_ahead_is_none",
            "a_clock_that_was_ahead_or_set_back_locks_nobody_out_and_signs_nobody_in")),
    Attack("16", "an Origin that cannot be parsed", "status 500 and a stack trace", ("an_origin_that_is_no_address_is_refused",)),
    Attack("17", "marks of turns, tags and unseen letters in prompts", "19 strings pass",
           ("a_mark_of_a_turn_is_one_in_every_spelling", "a_hostile_text_stays_inside_its_tags")),
    Attack("18", "names run together, misspelled or in lower case", "20 of 88 pass",
           ("a_name_is_masked_however_it_is_written", "words_that_contain_a_word_of_a_name_are_listed"),
           "these still pass, as SECURITY.md says"),
    Attack("19", "a statement on a store that reads files or loads extensions", "allowed",
           ("a_statement_on_a_store_reads_no_file_and_changes_no_setting",)),
    Attack("20", "scripts of others, cookies of neighbours, caches, an edited access log, an archive as large as the disk",
           "possible, unseen",
           ("every_answer_tells_the_browser_what_it_may_do_with_it",
            "under_https_only_the_cookie_that_no_neighbour_can_set_is_believed",
            "a_file_is_fetched_by_the_browser_that_asked_for_it_and_by_no_other",
            "an_entry_that_was_changed_past_the_triggers_is_found",
            "a_release_that_would_fill_the_disk_is_stopped_before_it_does")),
)  # fmt: skip
EARLIER = (
    Attack("E1", "names, telephone numbers and addresses in blind answers", "0 of 495 items",
           ("telephone_numbers_and_addresses_are_masked_as_contacts", "lines_that_name_a_source_are_masked",
            "no_answer_of_the_nih_institutes_tells_its_institute",
            "everything_that_annotators_are_sent_of_the_nih_release_tells_no_institute")),
    Attack("E2", "downloads after signing out, or by another person", "0 of 5",
           ("after_the_session_an_open_tab_downloads_nothing", "a_file_can_be_fetched_for_a_minute",
            "only_a_pi_gets_the_tables_of_a_study", "whose_session_has_ended_changes_nothing")),
    Attack("E3", "hostile workbooks and CSV files as packets", "one sentence each",
           ("an_archive_that_unpacks_to_gigabytes_is_refused", "a_million_formatted_rows_without_text_are_not_read",
            "a_document_type_is_refused_before_any_entity_is_read", "a_file_that_needs_more_memory_than_allowed_is_refused",
            "a_file_that_takes_too_long_is_given_up", "an_archive_that_states_a_smaller_size_than_it_has_is_a_sentence")),
    Attack("E4", "connections from a page of another server", "0 outside calls",
           ("a_page_of_another_server_cannot_connect_and_no_outside_host_is_asked",
            "a_server_on_all_addresses_asks_no_outside_host_when_it_starts")),
    Attack("E5", "guessing passwords, also many at once", "others sign in meanwhile",
           ("five_wrong_passwords_are_free_then_waiting_doubles", "of_sixty_guesses_at_once_two_are_checked_at_a_time",
            "guessing_over_many_names_is_slowed_at_its_address", "a_session_that_has_begun_goes_on_while_somebody_guesses",
            "a_wrong_name_and_a_wrong_password_get_the_same_message_and_cost_the_same")),
    Attack("E6", "going on with somebody's session id", "lands on *Sign in*",
           ("the_id_of_a_session_without_its_cookie_is_nobody", "the_id_of_a_session_with_another_s_cookie_is_that_other",
            "what_is_typed_on_the_sign_in_page_stays_in_its_browser")),
    Attack("E7", "formulas in cells of every table", "0 in 35,021 cells",
           ("no_cell_of_a_csv_runs_as_a_formula_and_its_text_can_be_had_back", "no_cell_of_a_workbook_is_a_formula",
            "no_page_uses_streamlit_s_own_buttons_for_files")),
    Attack("E8", "an endpoint that sends gigabytes, asks for waits of ages or of none, or leads elsewhere", "bounded",
           ("a_large_body_takes_little_memory_whatever_the_status_and_however_it_is_packed", "every_fault_has_its_outcome",
            "a_retry_after_of_ages_stops_the_run_at_once", "a_retry_after_that_asks_for_no_wait_does_not_remove_the_pauses",
            "the_key_is_in_no_log_no_error_and_no_repr")),
    Attack("E10", "other names for the server (DNS rebinding)", "refused",
           ("any_other_name_is_refused_for_pages_and_connections", "another_port_of_the_same_name_is_another_server")),
    Attack("E11", "clearing all caches, uploads and large bodies of strangers, figures on users", "refused",
           ("nobody_clears_the_caches_of_all", "a_large_body_is_refused_before_it_is_read", "a_body_without_a_length_is_cut_off",
            "figures_on_all_users_and_the_way_in_for_programs_are_not_there",
            "a_file_is_taken_where_a_page_asks_for_it_in_a_session")),
    Attack("E12", "a backup while people rate", "255 of 255 acknowledged ratings in it",
           ("a_backup_under_load_has_every_acknowledged_rating_and_is_restored_row_by_row",)),
    Attack("E13", "edits of a study by hand, past the triggers too", "16 of 16 kinds seen",
           ("each_alteration_by_hand_is_named_with_its_table_and_rows", "a_changed_field_is_detected_at_its_entry",
            "a_ledger_that_was_rewritten_with_its_head_differs_from_the_sealed_one")),
    Attack("E14", "odd file names, damaged and packed files, long fields, no figures", "each read or said",
           ("a_name_that_is_not_utf8_loses_no_record", "a_packed_table_that_unpacks_to_far_more_than_its_size_ends_there",
            "a_table_ends_where_ten_thousand_lines_in_a_row_contain_no_record",
            "the_number_of_statements_does_not_grow_with_the_number_of_damaged_files",
            "a_member_whose_name_speaks_to_a_terminal_is_reported_on_one_plain_line", "names_are_written_as_text")),
)  # fmt: skip
HELD = (
    Attack("H1", "scripts, links and marks in every text of a release, on pages and in files", "0 run",
           ("no_export_runs_links_or_hides_anything_of_a_hostile_release", "no_template_takes_a_text_as_html",
            "no_page_interprets_the_title_of_a_release_as_markdown", "no_text_of_a_handbook_is_interpreted")),
    Attack("H2", "every page as every role", "0 foreign pages",
           ("a_role_has_its_own_pages_and_no_other", "each_role_reaches_its_own_pages_and_sees_what_it_may_and_nothing_else",
            "a_page_of_another_role_is_refused_and_the_refusal_is_in_the_access_log")),
    Attack("H3", "everything that reaches an annotator's browser", "0 of the judge, of names, of others",
           ("nothing_that_blinds_reaches_an_annotator_s_browser", "nothing_an_annotator_can_request_contains_a_planted_word",
            "the_session_on_the_server_contains_no_name_and_nothing_of_the_other_annotator")),
    Attack("H4", "addresses of others' files, session fixation, forms of other sites", "refused",
           ("a_file_is_fetched_by_the_browser_that_asked_for_it_and_by_no_other", "a_form_on_another_site_gets_no_cookie",
            "a_guessed_ticket_gets_no_cookie", "a_ticket_works_once")),
    Attack("H5", "forged headers, two of one, nested bodies, frames that no page sends", "27 of 28 clean",
           ("nobody_but_the_proxy_can_send_the_header", "the_header_sent_twice_is_nobody",
            "our_own_headers_cannot_be_sent_through_the_proxy", "a_body_of_brackets_within_brackets_is_no_ticket",
            "a_forbidden_message_after_a_known_one_in_the_same_frame_is_forbidden")),
    Attack("H6", "hostile values of every component and field", "0 stacks in 2,090",
           ("no_value_of_a_component_or_a_field_shows_a_stack_or_stops_the_server",)),
    Attack("H7", "races of accounts, items, ratings and edits", "one winner each",
           ("of_two_pis_who_disable_each_other_at_once_one_stays", "of_two_who_have_the_code_at_once_one_gets_the_account",
            "twenty_clients_race_for_forty_items_and_every_item_ends_with_two_labels",
            "a_password_that_was_reset_while_it_was_being_checked_does_not_come_back",
            "twelve_simultaneous_first_edits_form_one_chain")),
    Attack("H8", "archives that climb out, link, lie or burst", "nothing outside",
           ("a_member_that_climbs_out_is_refused_and_the_others_are_loaded", "a_link_in_a_tar_is_refused",
            "a_bomb_is_stopped_before_it_fills_the_disk", "a_bomb_that_lies_about_its_size_is_stopped_too")),
    Attack("H9", "passwords, tokens and keys in logs, files and command lines", "0",
           ("no_level_logs_the_cookie_that_signs_somebody_in", "the_log_has_no_password_and_no_token",
            "the_key_is_in_no_file_and_on_no_command_line", "a_database_that_cannot_be_opened_is_named_without_its_password")),
    Attack("H10", "320 questions asked and left; 2,000 letters of search", "the next visitor waits for all",
           ("a_question_that_was_left_while_it_waited_is_withdrawn",
            "words_that_nothing_has_get_a_sentence_and_2000_letters_no_error")),
)  # fmt: skip
FAULTS = (
    Attack("F1", "kill -9 of the server, of loading, of copying", "nothing partial, nothing lost",
           ("fifty_kills_lose_or_duplicate_no_acknowledged_rating_and_sign_nobody_out",
            "a_load_that_is_killed_leaves_no_run_and_the_next_one_sweeps", "a_copy_that_fails_leaves_no_file")),
    Attack("F2", "an older and a newer store", "upgraded or refused",
           ("a_store_of_an_earlier_checkout_gets_the_tables_and_columns_that_it_lacks",
            "a_store_of_a_newer_version_is_left_alone")),
    Attack("F3", "a full or read-only disk, and clocks ahead or back", "one sentence, but for the server",
           ("on_a_full_or_read_only_disk_every_command_works_or_tells_the_cause",
            "a_clock_that_is_ahead_or_back_stops_no_command",
            "a_clock_that_is_set_back_two_days_locks_nobody_out")),
    Attack("F4", "two servers; a database server that stops", "one serves; pages say so",
           ("a_second_server_on_one_sqlite_store_is_refused_in_a_sentence_and_commands_are_not",
            "of_two_processes_behind_nginx_with_postgresql_one_may_stop_and_nobody_signs_in_again",
            "a_server_whose_database_is_damaged_is_not_ready_and_the_log_has_the_reason")),
    Attack("F5", "an endpoint that is killed in the middle", "208 replies kept",
           ("the_loss_of_the_last_endpoint_stops_the_run_with_a_reason",
            "a_killed_process_is_reported_and_no_stored_call_is_made_twice",
            "a_reply_survives_kill_9_once_put_has_returned")),
    Attack("F6", "six damages of each kind of store, backups that were changed", "a sentence, the other run goes on",
           ("where_every_store_file_is_damaged_each_page_says_so", "every_command_and_the_server_end_in_one_sentence",
            "a_backup_with_a_damaged_page_replaces_nothing",
            "anybody_verifies_a_backup_and_what_was_changed_in_it_is_named")),
)  # fmt: skip
PARTS = {
    "Findings of the review": FINDINGS,
    "Findings of the review before it": EARLIER,
    "Attacks that held": HELD,
    "Faults": FAULTS,
}
ATTACKS = tuple(one for part in PARTS.values() for one in part)


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
    """One table a part, one row an attack."""
    lines: list[str] = []
    for title, attacks in PARTS.items():
        lines += [f"## {title}", "", "| | attack | then | now |", "|---|---|---|---|"]
        for one in attacks:
            told = ", ".join(sorted({states.get(name, "not run") for name in one.tests}))
            now = "; ".join(filter(None, (f"{told} ({len(one.tests)} test{'s' * (len(one.tests) > 1)})", one.note)))
            lines.append(f"| {one.number} | {one.attack} | {one.then} | {now} |")
        lines.append("")
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
