"""Talk to a person: output, columns, sizes, prompts, QR codes and progress."""
