export { Robots, robotsProblems } from "./robots.ts";
