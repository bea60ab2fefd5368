// Package doctor performs the checks behind “loop doctor” and the first-run
// page. Each probe does the thing it reports on, once, for real: a container is
// started and removed, a link is opened, a byte is written. It is a service;
// daemon hands it the probes' parts.
package doctor
