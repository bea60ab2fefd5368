// What a flood is made of: coloured lines of some eighty columns, as tools print them.
export const LINE = "\u001b[32mloop\u001b[0m prints \u001b[1;34ma line\u001b[0m of some eighty columns, with colours, as tools do\r\n";
