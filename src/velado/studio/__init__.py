"""Studio, the browser application: pages over the resources of the service (see ``docs/explanation/studio.md``)."""
