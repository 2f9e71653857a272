"""Publishing: a sweep as a folder that is cited, queried by URL and taken in by others; and a site of all reports."""
