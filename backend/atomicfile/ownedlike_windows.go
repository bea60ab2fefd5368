package atomicfile

import (
	"io/fs"
	"os"
)

// giveTo does nothing: a new file has the permissions of its folder.
func giveTo(*os.File, fs.FileInfo) error { return nil }
