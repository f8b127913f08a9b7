"""What is printed can neither steer a terminal nor forge a line."""

from __future__ import annotations

from deploy.embedded.cli.screen import on_one_line, printable


def test_control_characters_and_such_that_turn_text_around_are_left_out() -> None:
    assert printable("a\x1b[31mb\u202ec\u2066d\nе") == "a[31mbcd\nе"


def test_a_name_with_a_line_end_stays_on_its_line() -> None:
    assert on_one_line("new\nline [1].md:1-2  quoted") == "new␤line [1].md:1-2  quoted"
