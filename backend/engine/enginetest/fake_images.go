package enginetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"loop/backend/core"
)

// findImage looks an image up by reference or id. The caller holds the lock.
func (f *Fake) findImage(ref string) (fakeImage, bool) {
	if img, ok := f.images[ref]; ok {
		return img, true
	}
	if img, ok := f.images[ref+":latest"]; ok {
		return img, true
	}
	for _, img := range f.images {
		if img.id == ref {
			return img, true
		}
	}
	return fakeImage{}, false
}

func (f *Fake) ImageInspect(ctx context.Context, ref string) (string, map[string]string, error) {
	if err := f.enter(ctx, "ImageInspect"); err != nil {
		return "", nil, err
	}
	defer f.mu.Unlock()
	img, ok := f.findImage(ref)
	if !ok {
		return "", nil, noImage("inspect image", ref)
	}
	return img.id, maps.Clone(img.labels), nil
}

// ImagePull always fails: the fake has no network.
func (f *Fake) ImagePull(ctx context.Context, ref string, _ func(string)) error {
	if err := f.enter(ctx, "ImagePull"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	return core.Fail(core.CodeInternal, fmt.Errorf("pull the image: %s", ref), "The container engine could not pull the image.", "")
}

func (f *Fake) ImageImport(ctx context.Context, root io.Reader, ref string) error {
	sum := sha256.New()
	if _, err := io.Copy(sum, root); err != nil {
		return fmt.Errorf("import the image: %w", err)
	}
	if err := f.enter(ctx, "ImageImport"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	f.images[ref] = fakeImage{id: "sha256:" + hex.EncodeToString(sum.Sum(nil))}
	return nil
}

// Export returns an empty archive.
func (f *Fake) Export(ctx context.Context, id core.ContainerID) (io.ReadCloser, error) {
	if err := f.enter(ctx, "Export"); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	if _, err := f.box(id); err != nil {
		return nil, err
	}
	return io.NopCloser(strings.NewReader(strings.Repeat("\x00", 1024))), nil
}

// ImageBuildClassic makes an image whose id is the hash of its context. It runs
// nothing.
func (f *Fake) ImageBuildClassic(ctx context.Context, buildContext io.Reader, o core.BuildOptions, progress func(string)) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, buildContext); err != nil {
		return "", fmt.Errorf("build the image: %w", err)
	}
	if err := f.enter(ctx, "ImageBuildClassic"); err != nil {
		return "", err
	}
	defer f.mu.Unlock()
	if progress != nil {
		progress("Step 1/1 : FROM scratch")
	}
	img := fakeImage{id: "sha256:" + hex.EncodeToString(sum.Sum(nil)), labels: maps.Clone(o.Labels), made: f.now()}
	f.images[img.id] = img // without a name
	return img.id, nil
}

func (f *Fake) ImagesDangling(ctx context.Context, labels map[string]string) (map[string]time.Time, error) {
	if err := f.enter(ctx, "ImagesDangling"); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	made := map[string]time.Time{}
	for name, img := range f.images {
		if name == img.id && hasLabels(img.labels, labels) && !f.named(img.id) {
			made[img.id] = img.made
		}
	}
	return made, nil
}

func (f *Fake) ImagesNamed(ctx context.Context, labels map[string]string) (map[string]map[string]string, error) {
	if err := f.enter(ctx, "ImagesNamed"); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	byName := map[string]map[string]string{}
	for name, img := range f.images {
		if name != img.id && hasLabels(img.labels, labels) {
			byName[name] = maps.Clone(img.labels)
		}
	}
	return byName, nil
}

// named reports whether a name points to an image. The caller holds the lock.
func (f *Fake) named(id string) bool {
	for name, i := range f.images {
		if i.id == id && name != id {
			return true
		}
	}
	return false
}

func (f *Fake) ImageTag(ctx context.Context, source, ref string) error {
	if err := f.enter(ctx, "ImageTag"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	img, ok := f.findImage(source)
	if !ok {
		return noImage("tag image", source)
	}
	if old, ok := f.images[ref]; ok && old.id != img.id {
		f.images[old.id] = old // loses this name, but stays as an image
	}
	f.images[ref] = img
	return nil
}

func (f *Fake) ImageRemove(ctx context.Context, ref string) error {
	if err := f.enter(ctx, "ImageRemove"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	img, ok := f.findImage(ref)
	if !ok {
		return noImage("remove image", ref)
	}
	if ref == img.id && f.named(img.id) {
		return fmt.Errorf("remove the image: it has a name: %w", core.ErrConflict)
	}
	delete(f.images, ref)
	return nil
}
