// Code generated from calls.txt and numbers.txt by TestPrograms. DO NOT EDIT.

//go:build linux

package filter

func notified() []Call {
	return []Call{
		{5, "setxattr"},
		{6, "lsetxattr"},
		{7, "fsetxattr"},
		{14, "removexattr"},
		{15, "lremovexattr"},
		{16, "fremovexattr"},
		{33, "mknodat"},
		{34, "mkdirat"},
		{35, "unlinkat"},
		{36, "symlinkat"},
		{37, "linkat"},
		{38, "renameat"},
		{45, "truncate"},
		{52, "fchmod"},
		{53, "fchmodat"},
		{54, "fchownat"},
		{55, "fchown"},
		{56, "openat"},
		{88, "utimensat"},
		{117, "ptrace"},
		{200, "bind"},
		{203, "connect"},
		{206, "sendto"},
		{221, "execve"},
		{270, "process_vm_readv"},
		{271, "process_vm_writev"},
		{276, "renameat2"},
		{281, "execveat"},
		{437, "openat2"},
		{452, "fchmodat2"},
		{463, "setxattrat"},
		{466, "removexattrat"},
		{469, "file_setattr"},
	}
}
