"""Definitions: what loads, and every problem of what does not, with its line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from tests.engine.flows import python, write_flow
from tt_debug.definition.load import differences, load_body, load_workflow
from tt_debug.definition.workflow import ModelNode
from tt_debug.errors import DefinitionError, UsageError

SCREENING = (
    '{"workflow_id":"resume_screening_v1","version":"1.2.0","nodes":['
    '{"id":"parse_resume","type":"llm_call","next":"extract_skills","retry":{"max":3,"backoff":"exponential"}},'
    '{"id":"extract_skills","type":"llm_call","next":"score_candidate","retry":{"max":3,"backoff":"exponential"}},'
    '{"id":"score_candidate","type":"llm_call","next":"human_review","retry":{"max":2,"backoff":"fixed"}},'
    '{"id":"human_review","type":"human_task","next":null}]}'
)


LADDER = ("ab", "bc", "cd", "de", "ef")


def problems(folder: Path, text: str, name: str = "flow.yaml") -> tuple[str, ...]:
    file = folder / name
    file.write_text(dedent(text), encoding="utf-8", errors="surrogatepass")
    with pytest.raises(DefinitionError) as caught:
        load_workflow(file)
    return caught.value.problems


def test_the_screening_definition_loads_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "screening.json"
    file.write_text(SCREENING)
    workflow = load_workflow(file)
    assert [node.id for node in workflow.nodes] == ["parse_resume", "extract_skills", "score_candidate", "human_review"]
    assert [node.retry.max for node in workflow.nodes] == [3, 3, 2, 1]
    assert workflow.start == "parse_resume"
    assert workflow.origin == str(file)
    assert workflow.code() == ""


def test_yaml_and_json_of_the_same_definition_have_the_same_hash(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(SCREENING)
    (tmp_path / "b.yaml").write_text("# a comment\n" + json.dumps(json.loads(SCREENING), indent=4))
    assert load_workflow(tmp_path / "a.json").hash == load_workflow(tmp_path / "b.yaml").hash


def test_a_stored_body_gives_the_same_workflow(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(SCREENING)
    workflow = load_workflow(tmp_path / "a.json")
    assert load_body(workflow.body, workflow.origin) == workflow
    assert workflow.definition().hash == workflow.hash


def test_every_problem_is_told_at_once_with_its_line(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        """\
        workflow_id: trip
        version: 1.20
        bogus: 1
        state_schema: {type: 12}
        nodes:
          - id: plan
            type: python
            run: "nodes.plan"
            next: [{when: "a ==", to: b}, {to: null}, {to: plan}]
            retry: {max: 0, backoff: fast, frist: 1}
          - {id: b, type: llm_call, provider: scripted, prompt: "a {x", next: b}
          - {id: b, type: human_task, next: nope}
          - {id: q, type: wat, next: nope}
          - {id: z, type: python, run: "a:b"}
          - 12
        """,
    )
    expected = [
        (2, "version must be quoted"),
        (3, "bogus is not a field"),
        (4, "is not a JSON Schema"),
        (8, 'must be "module:function"'),
        (9, "'a ==' is not a JMESPath expression"),
        (9, "edges after it are never tried"),
        (10, "max should be greater than or equal to 1"),
        (10, "'exponential' or 'fixed'"),
        (10, "frist is not a field"),
        (11, "needs script"),
        (11, "lone {"),
        (12, "id 'b' is taken by nodes[1]"),
        (12, "no node 'nope'"),
        (13, "type 'wat' is unknown"),
        (13, "no node 'nope'"),
        (14, "next is missing"),
        (15, "a node is a mapping"),
    ]
    for line, words in expected:
        assert any(text.startswith(f"flow.yaml:{line}: ") and words in text for text in found), (line, words, found)
    assert len(found) == len(expected), found


def test_unreachable_nodes_and_loops_without_a_way_out(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        """\
        workflow_id: trip
        version: "1"
        nodes:
          - {id: a, type: python, run: "a:b", next: b}
          - {id: b, type: python, run: "a:b", next: c}
          - {id: c, type: python, run: "a:b", next: [{when: "x", to: b}, {to: c}]}
          - {id: d, type: python, run: "a:b", next: null}
          - {id: e, type: python, run: "a:b", next: e}
        """,
    )
    assert len(found) == 4
    assert "flow.yaml:5" in found[0]
    assert "b → c has no way out" in found[0]
    assert any("flow.yaml:7: nodes[3]: d is unreachable from a" in text for text in found)
    assert any("loop e has no way out" in text for text in found)
    assert any("e is unreachable" in text for text in found)


def test_a_loop_with_a_way_out_is_fine(tmp_path: Path) -> None:
    nodes = [python("a", "count", [{"when": "n > `3`", "to": None}, {"to": "a"}])]
    assert load_workflow(write_flow(tmp_path, nodes)).start == "a"


@pytest.mark.parametrize("name", ["flow.json", "flow.yaml"])
def test_duplicate_keys_are_refused_with_their_line(tmp_path: Path, name: str) -> None:
    found = problems(tmp_path, '{\n"workflow_id": "a",\n"version": "1",\n"version": "2"}', name)
    assert found == (f'{name}:4: found duplicate key "version"',)


def test_json_problems_have_lines_and_tabs_are_fine(tmp_path: Path) -> None:
    text = '{\n\t"workflow_id": "a",\n\t"version": 2,\n\t"nodes": [\n\t\t{"id": 1}\n\t]\n}'
    found = problems(tmp_path, text, "flow.json")
    assert any(text.startswith("flow.json:3: version must be quoted") for text in found)
    assert any(text.startswith("flow.json:5: nodes[0]: type is missing") for text in found)


def test_an_escaped_emoji_in_json_is_one_character(tmp_path: Path) -> None:
    file = tmp_path / "flow.json"
    node = '{"id": "\\ud83d\\ude42", "type": "human_task", "next": null}'
    file.write_text('{"workflow_id": "a", "version": "1", "nodes": [' + node + "]}")
    assert load_workflow(file).start == "🙂"


def test_half_a_surrogate_pair_is_refused(tmp_path: Path) -> None:
    node = '{"id": "\\ud83d", "type": "human_task", "next": null}'
    found = problems(tmp_path, '{"workflow_id": "a", "version": "1", "nodes": [' + node + "]}", "flow.json")
    assert len(found) == 1
    assert "id should be a valid string" in found[0]
    node = '{"id": "a", "type": "human_task", "response_schema": {"title": "\\ud83d"}, "next": null}'
    found = problems(tmp_path, '{"workflow_id": "a", "version": "1", "nodes": [' + node + "]}", "flow.json")
    assert any("surrogates" in text for text in found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [\n b: {", "flow.yaml:2"),
        ("", "the file is empty"),
        ("--- \na: 1\n---\nb: 2\n", "one definition a file, not 2"),
        ("a: 2024-01-01", "flow.yaml:1: a is a date"),
        ("a: !!python/object:os.system x", "not a JSON value"),
        ("a: &x [1]\nb: *x\n1: 2", "the key 1 is not text"),
        ("[1, 2]", "a definition is a mapping"),
        (
            "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(f"{n}: &{n} [{','.join([f'*{p}'] * 10)}]\n" for p, n in LADDER),
            "expand without end",
        ),
    ],
)
def test_broken_yaml(tmp_path: Path, text: str, words: str) -> None:
    found = problems(tmp_path, text)
    assert any(words in problem for problem in found), found


def test_yaml_keeps_no_and_quoted_versions_as_text(tmp_path: Path) -> None:
    file = tmp_path / "flow.yaml"
    file.write_text('workflow_id: no\nversion: "1.20"\nnodes: [{id: yes, type: human_task, prompt: on, next: null}]')
    workflow = load_workflow(file)
    assert (workflow.workflow_id, workflow.version, workflow.start) == ("no", "1.20", "yes")


def test_a_file_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        load_workflow(tmp_path / "nope.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"workflow_id: caf\xe9")
    with pytest.raises(DefinitionError, match="UTF-8"):
        load_workflow(tmp_path / "latin.yaml")


def test_fields_of_every_kind_of_node(tmp_path: Path) -> None:
    file = tmp_path / "flow.yaml"
    file.write_text(
        dedent("""\
        workflow_id: trip
        version: "1.2.0"
        state_schema: {type: object}
        compatible_with: ["1.1.0"]
        migrations: [{from: "1.0.0", run: "module:function"}]
        nodes:
          - id: plan
            type: python
            run: "nodes:plan"
            next: ask_model
            retry: {max: 3, backoff: exponential, first: 1, cap: 30}
            on_interrupt: retry
            timeout_s: 60
            cache: false
          - {id: ask_model, type: llm_call, provider: template, prompt: "Plan {city}", output: plan_text, next: approve}
          - {id: approve, type: human_task, prompt: "Book it?", response_schema: {type: object}, due: 7d,
             on_timeout: wait, next: null}
        """)
    )
    (tmp_path / "nodes.py").write_text("")
    workflow = load_workflow(file)
    model = workflow.node("ask_model")
    assert isinstance(model, ModelNode)
    assert model.output_key == "plan_text"
    assert workflow.code() == "nodes.py beside flow.yaml"


def test_differences_name_the_nodes_and_fields(tmp_path: Path) -> None:
    one = load_workflow(write_flow(tmp_path, [python("a", "count", "b"), python("b", "count", None)]))
    nodes = [python("c", "count", "b"), python("b", "count", None, retry={"max": 2})]
    two = load_workflow(write_flow(tmp_path, nodes, version="2"))
    assert differences(one, two) == (
        'version: "1" → "2"',
        "starts at c instead of a",
        "node a is gone",
        'node b: retry none → {"max": 2}',
        "node c is new",
    )
    assert differences(one, one) == ()


@pytest.fixture
def usual_depth() -> Iterator[None]:
    """Python's own limit: a command line that was run in this process has raised it."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("", "flow.yaml", "flow.yaml: the file is empty"),
        ("# nothing but a comment", "flow.yaml", "flow.yaml: the file is empty"),
        ('{"workflow_id": ' + "[" * 5000 + "]" * 5000 + "}", "flow.json", "flow.json: nested too deeply"),
        ("workflow_id: " + "[" * 600 + "]" * 600, "flow.yaml", "flow.yaml: nested too deeply"),
        ('workflow_id: ""\nversion: "1"\nnodes: [{id: a, type: llm_call, next: null}]', "flow.yaml",
         "flow.yaml:1: workflow_id must not be empty"),
        ('workflow_id: w\nversion: ""\nnodes: [{id: a, type: llm_call, next: null}]', "flow.yaml",
         "flow.yaml:2: version must not be empty"),
        ('workflow_id: w\nversion: "1"\nnodes: []', "flow.yaml", "flow.yaml:3: nodes must not be empty"),
        ('workflow_id: w\nversion: "1"\nnodes: [{id: "", type: llm_call, next: null}]', "flow.yaml",
         "flow.yaml:3: nodes[0]: id must not be empty"),
    ],
)  # fmt: skip
def test_what_is_empty_or_too_deep_is_said_in_words(
    tmp_path: Path, text: str, name: str, said: str, usual_depth: None
) -> None:
    assert problems(tmp_path, text, name) == (said,)


def test_a_schema_that_refers_elsewhere_is_a_problem(tmp_path: Path) -> None:
    text = """
        workflow_id: w
        version: "1"
        state_schema: {$ref: "http://example.com/state.json"}
        nodes: [{id: a, type: human_task, response_schema: {$ref: "#/nowhere"}, next: null}]
    """
    assert problems(tmp_path, text) == (
        "flow.yaml:4: state_schema: refers to 'http://example.com/state.json', which is not in it; nothing is fetched",
        "flow.yaml:5: nodes[0].response_schema: refers to '#/nowhere', which is not in it; nothing is fetched",
    )


def test_a_stored_definition_is_read_without_what_reads_yaml() -> None:
    code = (
        "import sys; from tt_debug.definition.load import load_body\n"
        "print(load_body(sys.argv[1]).workflow_id, 'ruamel.yaml' in sys.modules)"
    )
    argv = [sys.executable, "-c", code, SCREENING]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout == "resume_screening_v1 False\n"
