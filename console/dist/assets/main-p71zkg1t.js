import{Fe,te}from"/console/assets/main-5s9t7b4c.js";function C(){return Fe({strict:!1})}function F(){let e=te(),t=C();return(n)=>{let o=Object.entries({...t,...n}).filter(([,r])=>r!==void 0&&r!=="");e({to:".",search:Object.fromEntries(o),replace:!0})}}
export{C,F};
