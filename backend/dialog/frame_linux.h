// Loop's window as GTK has it. Any thread may call these; they return at once.
#pragma once

void loop_frame_mark(int waits);
int loop_frame_in_front(void);   // at the last mark
int loop_frame_on_wayland(void); // likewise
