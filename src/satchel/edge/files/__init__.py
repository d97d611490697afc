"""Files on their way out: downloads with ranges, archives, previews, signed links of the folder store, the web app."""
