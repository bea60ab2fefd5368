module loop/build/seccomp

go 1.26

require github.com/seccomp/libseccomp-golang v0.11.1
