"""A stand-in for `vllm run-batch`: it answers a shard as vLLM would, and dies half-way if it is asked to.

    stand_in_vllm.py run-batch -i IN.jsonl -o OUT.jsonl --model NAME [other options, which are ignored]

STAND_IN_LABEL=WORD: every pair gets this label (CONSISTENT), and every question one answer. Of an answer's statements it gives
the first sentence that begins with "Handbook", and it takes the first statement of a question as one position and the others as
another. STAND_IN_DIES=N: on the first
attempt at a shard, N lines and half of the next are written, and then it is killed. STAND_IN_REFUSES=WORD: a request with
this word gets status 400. STAND_IN_SLEEPS=S: it takes S seconds a line.
"""

import argparse
import json
import os
import re
import signal
import sys
import time
from pathlib import Path

VERDICT = {
    "reasoning": "Both say the same.",
    "quote_a": None,
    "quote_b": None,
    "classification": os.environ.get("STAND_IN_LABEL", "CONSISTENT"),
    "divergence_topic": "",
    "difference": None,
    "follow_both": None,
    "clinical_significance": "",
}


ANSWER = {"answer": "You may [1]."}
HANDBOOK_SENTENCE = re.compile(r"Handbook \w+ on \w+\.")
NUMBERED = re.compile(r"^(\d+)\. ", re.MULTILINE)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["run-batch"])
    parser.add_argument("-i", required=True)
    parser.add_argument("-o", required=True)
    parser.add_argument("--model", required=True)
    options, _ = parser.parse_known_args()
    out = Path(options.o)
    first = len(list(out.parent.glob(f"{out.name.split('.')[0]}.*"))) == 0
    dies = int(os.environ.get("STAND_IN_DIES", "-1")) if first else -1
    with Path(options.i).open(encoding="utf-8") as requests, out.open("w", encoding="utf-8") as answers:
        for number, line in enumerate(requests):
            answer = json.dumps(response(json.loads(line), options.model)) + "\n"
            if number == dies:
                answers.write(answer[: len(answer) // 2])
                answers.flush()
                os.kill(os.getpid(), signal.SIGKILL)
            answers.write(answer)
            answers.flush()
            time.sleep(float(os.environ.get("STAND_IN_SLEEPS", "0")))


def statements(prompt: str) -> dict:
    quotes = HANDBOOK_SENTENCE.findall(prompt)[-1:]
    return {"statements": [{"aspect": "advice", "quote": quote, "statement": quote, "value": None} for quote in quotes]}


def merged(prompt: str) -> dict:
    first, *others = [int(number) for number in NUMBERED.findall(prompt)] or [0]
    sides = [{"stance": "for", "members": [first]}, {"stance": "against", "members": others}]
    return {"aspects": [{"aspect": "advice", "positions": sides, "significance": "high"}]}


def response(request: dict, model: str) -> dict:
    refused = os.environ.get("STAND_IN_REFUSES")
    if refused and refused in json.dumps(request["body"], ensure_ascii=False):
        body = {"error": {"message": "This model's maximum context length is 4096 tokens.", "code": 400}}
        return {"custom_id": request["custom_id"], "response": {"status_code": 400, "body": body}, "error": None}
    asked = request["body"].get("response_format", {}).get("json_schema", {}).get("name")
    prompt = "\n".join(message["content"] for message in request["body"]["messages"])
    replies = {"answer": ANSWER, "statements": statements(prompt), "merge": merged(prompt)}
    message = {"role": "assistant", "content": json.dumps(replies.get(asked, VERDICT))}
    body = {
        "id": f"chatcmpl-{request['custom_id']}", "model": model, "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 700, "completion_tokens": 30},
    }  # fmt: skip
    return {"custom_id": request["custom_id"], "response": {"status_code": 200, "body": body}, "error": None}


if __name__ == "__main__":
    sys.exit(main())
