"""Work for the tests of the worker; each module is a kind of job."""
