"""The header `Satchel-Work`: the proof of work of somebody who is where others have guessed too often."""

WORK_HEADER = "Satchel-Work"
SENDS_WORK = {WORK_HEADER: "a proof of work, where the answer was `work-needed`"}
