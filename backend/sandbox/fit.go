package sandbox

// FitForWork judges a directory that is about to become a channel's as Resolve
// would when the channel has a run: nil, or the failure the run would end with.
// host needs the facts that FitProbes names.
func FitForWork(dir string, host Host) error {
	dir, err := plainDir(dir, host.style())
	if err != nil {
		return err
	}
	return checkProjectDir("folder", dir, false, host)
}

// FitProbes names the host paths whose facts FitForWork needs.
func FitProbes(dir string, host Host) []string {
	out := []string{host.Home, host.LoopHome}
	if dir, err := plainDir(dir, host.style()); err == nil {
		out = append(out, dir)
	}
	return out
}
