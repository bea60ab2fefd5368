const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hour12: false });

/** The time of day to the millisecond. */
export const fineTime = (ms: number) => time.format(ms);
