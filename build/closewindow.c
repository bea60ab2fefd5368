/* closewindow ID: asks a window to close, as the cross in its frame does. */
#include <X11/Xlib.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	Display *d = argc == 2 ? XOpenDisplay(NULL) : NULL;
	if (!d)
		return 1;
	XEvent e = {.xclient = {
		.type = ClientMessage, .window = strtoul(argv[1], NULL, 0), .message_type = XInternAtom(d, "WM_PROTOCOLS", False), .format = 32,
		.data.l = {(long)XInternAtom(d, "WM_DELETE_WINDOW", False), CurrentTime},
	}};
	Status sent = XSendEvent(d, e.xclient.window, False, NoEventMask, &e);
	XCloseDisplay(d);
	return sent ? 0 : 1;
}
