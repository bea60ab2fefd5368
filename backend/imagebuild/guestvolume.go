package imagebuild

import (
	"cmp"
	"context"
	"errors"

	"loop/backend/core"
)

const (
	// guestMark is written after the binary; a volume without it is filled again.
	guestMark = ".complete"
	// guestFile is the binary's place in the volume, seen as /opt/loop/bin/loop.
	guestFile = "loop"
)

// GuestVolume returns the volume that holds the in-container binary, filling it
// if it is not complete. Its name ends in the binary's hash. The binary is at the
// volume's root as “loop”; mount the volume read-only at /opt/loop/bin. It needs
// any image to be there, whose reference it gets, so call Ensure before; an empty one is that
// of the settings. The answer is remembered for this launch; ForgetGuestVolume drops it.
func (s *Service) GuestVolume(ctx context.Context, ref string) (name string, err error) {
	s.guestMu.Lock()
	defer s.guestMu.Unlock()
	if s.guest != "" {
		return s.guest, nil
	}
	e, ref := s.engine, cmp.Or(ref, s.settings().Ref)
	st := e.Status(ctx)
	if st.Failure != nil {
		return "", st.Failure
	}
	data, hash, err := s.guestBinary(st.Arch)
	if err != nil {
		return "", err
	}
	name = "loop-guest-" + hash
	if err := e.EnsureVolume(ctx, name, map[string]string{core.LabelApp: core.LabelAppName, core.LabelHash: hash}); err != nil {
		return "", err
	}
	mark, err := e.VolumeRead(ctx, name, ref, guestMark)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return "", err
	}
	if string(mark) != hash {
		err := e.VolumeFill(ctx, name, ref, []core.VolumeFile{
			{Path: guestFile, Mode: 0o755, Data: data},
			{Path: guestMark, Mode: 0o644, Data: []byte(hash)}, // last: it vouches for the rest
		})
		if err != nil {
			return "", err
		}
		s.log.Info("guest volume filled", "volume", name, "bytes", len(data))
	}
	s.guest = name
	return name, nil
}

// ForgetGuestVolume makes the next GuestVolume look again: call it when a
// container could not start its entrypoint, since somebody may have removed the
// volume and the engine then mounts an empty one.
func (s *Service) ForgetGuestVolume() {
	s.guestMu.Lock()
	defer s.guestMu.Unlock()
	s.guest = ""
}
