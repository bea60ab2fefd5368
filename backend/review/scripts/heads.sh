# Names on stdin, a line each; git's name of what the last commit has there, or a hyphen
heads() { sed 's,^,HEAD:,' | g cat-file --batch-check='%(objectname)' | sed 's/^HEAD:.*/-/'; }
out heads 1048576 heads
