//go:build linux

package supervise

import (
	"bytes"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// program is a file that one execve runs, with the arguments that it gets. file is nil
// where the kernel will find none to run.
type program struct {
	file *object
	argv []string
}

// programs are what an execve runs: the file, and where that is a script its
// interpreter, which may be a script itself.
type programs []program

// close closes what programs found; the first file is the caller's.
func (p programs) close() {
	for _, one := range p[1:] {
		one.file.close()
	}
}

// maxScripts is how many scripts the kernel follows (fs/exec.c).
const maxScripts = 5

// programs follows the “#!” lines of scripts, as the kernel will. A file that the caller
// may execute and not read is taken for no script; if it is one, the program that
// comes of it is not the one that was expected.
func (c *call) programs(x executing, o *object, argv []string) programs {
	all := programs{{o, argv}}
	name := x.name()
	for range maxScripts {
		at := all[len(all)-1]
		interpreter, argument, ok := hashBang(head(at.file))
		if !ok {
			return all
		}
		args := []string{interpreter}
		if argument != nil {
			args = append(args, *argument)
		}
		args = append(append(args, name), at.argv[1:]...)
		name = interpreter
		next, missing, err := c.find(location{dirfd: unix.AT_FDCWD, path: interpreter}, how{follow: true})
		if missing != nil {
			missing.close()
		}
		if err != nil {
			return append(all, program{nil, args})
		}
		all = append(all, program{next, args})
	}
	if _, _, ok := hashBang(head(all[maxScripts].file)); ok {
		all = append(all, program{nil, []string{""}})
	}
	return all
}

// name is what an interpreter is told the script is called.
func (x executing) name() string {
	fd := "/dev/fd/" + strconv.Itoa(int(x.at.dirfd))
	switch {
	case x.at.path == "":
		return fd
	case x.at.dirfd == unix.AT_FDCWD || strings.HasPrefix(x.at.path, "/"):
		return x.at.path
	}
	return fd + "/" + x.at.path
}

// headSize is BINPRM_BUF_SIZE: what the kernel looks at.
const headSize = 256

// head is the beginning of a regular file, as the agent reads it.
func head(o *object) []byte {
	if o.kind() != unix.S_IFREG {
		return nil
	}
	fd, err := unix.Open(o.itself(), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = unix.Close(fd) }()
	var buf [headSize]byte
	n, err := unix.Pread(fd, buf[:], 0)
	if err != nil {
		return nil
	}
	return buf[:n]
}

// hashBang reads the first line of a script as fs/binfmt_script.c does.
func hashBang(data []byte) (interpreter string, argument *string, ok bool) {
	if !bytes.HasPrefix(data, []byte("#!")) {
		return "", nil, false
	}
	// Behind a short file the kernel sees zeros, and without a line break it leaves the
	// last byte out.
	buf := append(data[:len(data):len(data)], make([]byte, headSize-len(data))...)
	line, _, whole := bytes.Cut(buf[2:], []byte("\n"))
	if !whole {
		line = buf[2 : headSize-1]
		if !bytes.ContainsAny(bytes.TrimLeft(buf[2:], " \t"), " \t\x00") {
			return "", nil, false // cut off
		}
	}
	line = bytes.Trim(line, " \t")
	end := bytes.IndexAny(line, " \t\x00")
	if end < 0 {
		end = len(line)
	}
	if interpreter = string(line[:end]); interpreter == "" {
		return "", nil, false
	}
	if end < len(line) && line[end] != 0 {
		rest, _, _ := bytes.Cut(bytes.TrimLeft(line[end:], " \t"), []byte{0})
		argument = new(string(rest))
	}
	return interpreter, argument, true
}
