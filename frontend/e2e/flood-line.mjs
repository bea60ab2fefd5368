// One line of a flood of output: coloured, some eighty columns wide, as tools print.
export const LINE = "\u001b[32mloop\u001b[0m prints \u001b[1;34ma line\u001b[0m of some eighty columns, with colours, as tools do\r\n";
