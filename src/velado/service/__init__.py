"""The service: accounts, sources, projects and jobs behind a REST interface, for one person or for a team.

`Service` is what all its processes share: settings, store, files and secrets. ``web`` answers requests and runs no kernel;
``jobs`` does the work in processes of its own. Needs the extra ``velado[studio]``.
"""
