"""The web process: who is connected, what they ask for, and what they see.

`guard` lets requests in, `hub` decides what a message does, `client` is one socket's end with its role and
limits, `run` steers the simulation and gives it orders, `viewing` replays recordings, `catalogue` is what can
be chosen and what lies in the station's folder, and `app` puts them behind a page.
"""
