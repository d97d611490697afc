"""Record, fold and rebuild where one writer stores everything: a click is stored and counted in one step."""
