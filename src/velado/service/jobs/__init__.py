"""Work that takes longer than a request: the queue, the worker, the process of one job, and the kinds of jobs."""
