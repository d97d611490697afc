"""What a server keeps, as several verbs use it: the shelf, links, rooms, transfers and people."""
