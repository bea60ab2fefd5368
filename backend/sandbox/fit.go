package sandbox

// FitForWork judges a directory that is about to become a channel's as Resolve
// would when the channel has a run: nil, or the failure the run would end with.
func FitForWork(dir string, host Host) error {
	dir, err := plainDir(dir, host.style())
	if err != nil {
		return err
	}
	return checkProjectDir("folder", dir, false, host)
}
